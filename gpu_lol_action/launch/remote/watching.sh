# shellcheck shell=bash disable=SC2154  # values stand in front of this script; python and state are set by then
# Defines how a command is watched: gpu_lol_watch PID starts the sampler beside it, gpu_lol_watched says what it saw.
# In: sampler (gpu_lol_sampler.py in base64), state (our folder), python (an interpreter, or nothing).

sampling=''
samples=''

gpu_lol_watch() {
  [ -n "$python" ] && samples=$(mktemp "$state/samples.XXXXXX") || return 0
  printf '%s' "$sampler" | base64 -d > "$samples.py" || return 0
  # Isolated: what the checkout calls `json.py` is none of Python's.
  "$python" -I "$samples.py" "$samples" . "$1" < /dev/null > /dev/null 2>&1 &
  sampling=$!
}

# It sees within half a second that the command is over. One that hangs in a broken driver is not waited for.
gpu_lol_watched() {
  local tries
  [ -n "$sampling" ] || return 0
  for tries in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    kill -0 "$sampling" 2> /dev/null || break
    sleep 0.2
  done
  [ "$tries" -lt 20 ] || kill -9 "$sampling" 2> /dev/null
  [ ! -s "$samples" ] || say "samples $(base64 -w 0 < "$samples")"
  rm -f "$samples" "$samples.new" "$samples.py"
}
