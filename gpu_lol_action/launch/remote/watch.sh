# shellcheck shell=bash
# Stays on the machine until its lease is over. Argument: our folder, in which lease.sh writes what to watch for, so that
# a lease that was extended is read anew in each round:
#   ends_at   when the lease ends, in seconds of this machine's uptime (its wall clock may be wrong, or set back)
#   ends_text the same moment for people
#   grace_seconds, checkout, sha, keep: for how long after that work which is only here is left for the sweeper to save
# It writes idle_since (the same seconds) while nobody is logged in and no GPU works, and warns who is logged in 30, 15 and
# 5 minutes before the end. At the end it ends the machine itself, where the platform gave the machine a key for that.
set -u
folder=$1
round=${GPU_LOL_WATCH_SECONDS:-20}
said='' said_for='' connected=0

uptime_seconds() { local up; read -r up _ < /proc/uptime; printf '%s' "${up%%.*}"; }

number_in() { local text=''; [ -f "$1" ] && read -r text < "$1"; case $text in '' | *[!0-9]*) return 1 ;; *) printf '%s' "$text" ;; esac; }

# sshd writes into its processes' titles whom it serves. A terminal is somebody at work; so is a connection without one (an
# editor, a copy) that the next round sees too: our own looks are over by then. A program left behind in tmux is neither.
has_session() { grep -qazE "^sshd(-session)?: [^ ]+@$1" /proc/[0-9]*/cmdline 2> /dev/null; }

# A GPU that cannot be asked counts as working: on a doubt, nobody's run is taken for idle.
has_working_gpu() {
  local used one
  # 14: it warns of a damaged infoROM behind an answer that is whole.
  used=$(timeout 10 nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits 2> /dev/null) || [ $? -eq 14 ] || return 0
  used=$(printf '%s\n' "$used" | grep -v '^WARNING: ') || return 0
  while IFS= read -r one; do
    case $one in '' | *[!0-9\ ]*) return 0 ;; esac
    [ "$((one))" -le 5 ] || return 0
  done <<< "$used"
  return 1
}

note_idleness() {
  if has_session notty; then connected=$((connected + 1)); else connected=0; fi
  if has_session pts/ || [ "$connected" -ge 2 ] || has_working_gpu; then
    rm -f "$folder/idle_since"
  elif [ ! -f "$folder/idle_since" ]; then
    uptime_seconds > "$folder/idle_since"
  fi
}

tell_everybody() {
  local one
  for one in /dev/pts/[0-9]*; do
    [ -e "$one" ] && { printf '\r\n\a%s\r\n' "$1" | timeout 2 tee "$one" > /dev/null 2>&1 || true; }
  done
}

# warn LEFT: once for each of the three times, and only for the nearest of those that are due.
warn() {
  local minutes
  for minutes in 5 15 30; do
    [ "$1" -le $((minutes * 60)) ] || continue
    case $said in *" $minutes "*) ;; *) tell_everybody "gpu-lol: this machine ends in $((($1 + 59) / 60)) minutes, at $(cat "$folder/ends_text" 2> /dev/null). Push or copy what matters: only work in the checkout is saved. More time: /gpu-lol extend 1h" ;; esac
    case $minutes in 5) said=' 5 15 30 ' ;; 15) said=' 15 30 ' ;; 30) said=' 30 ' ;; esac
    return
  done
}

# What is changed, new or committed here and nowhere else; on a doubt it is something. Nothing that the checkout names is run.
has_unsaved_work() {
  local checkout sha changes commits pattern
  local -a patterns=()
  checkout=$(cat "$folder/checkout" 2> /dev/null) sha=$(cat "$folder/sha" 2> /dev/null)
  [ -d "$checkout/.git" ] || return 1
  set -- timeout 30 git -C "$checkout" -c core.fsmonitor=false -c core.hooksPath=/dev/null --no-optional-locks
  changes=$("$@" status --porcelain=v1 2> /dev/null) || return 0
  [ -z "$changes" ] || return 0
  while IFS= read -r pattern; do
    [ -z "$pattern" ] || patterns+=(":(top,glob)$pattern" ":(top,glob)$pattern/**")
  done < "$folder/keep"
  if [ ${#patterns[@]} != 0 ]; then
    changes=$("$@" ls-files --others --ignored --exclude-standard -- "${patterns[@]}" 2> /dev/null) || return 0
    [ -z "$changes" ] || return 0
  fi
  commits=$("$@" rev-list --count HEAD --not "$sha" --remotes 2> /dev/null) || return 0
  [ "$commits" != 0 ]
}

# The first process has what the platform gave this machine. RunPod's key is good for this pod alone.
of_platform() { tr '\0' '\n' < /proc/1/environ 2> /dev/null | sed -n "s/^$1=//p" | head -n 1; }

end_machine() {
  local pod key base query
  pod=$(of_platform RUNPOD_POD_ID) key=$(of_platform RUNPOD_API_KEY) base=$(of_platform RUNPOD_API_BASE_URL)
  case $pod in '' | *[!A-Za-z0-9_-]*) return ;; esac
  [ -n "$key" ] || return
  query="{\"query\":\"mutation { podTerminate(input: {podId: \\\"$pod\\\"}) }\"}"
  # The key goes over standard input: arguments can be read by every program here.
  if command -v curl > /dev/null 2>&1; then
    printf 'header = "Authorization: Bearer %s"\n' "$key" |
      curl -s -m 30 -K - -H 'Content-Type: application/json' -H 'User-Agent: gpu-lol' -d "$query" "${base:-https://api.runpod.io}/graphql"
  elif command -v python3 > /dev/null 2>&1; then
    printf '%s\n%s\n%s' "${base:-https://api.runpod.io}/graphql" "$key" "$query" | timeout 40 python3 -c '
import sys, urllib.request
url, key, query = sys.stdin.read().split("\n", 2)
head = {"Authorization": "Bearer " + key, "Content-Type": "application/json", "User-Agent": "gpu-lol"}
print(urllib.request.urlopen(urllib.request.Request(url, query.encode(), head), timeout=30).read().decode()[:500])'
  fi >> "$folder/end.log" 2>&1
}

while :; do
  if ends_at=$(number_in "$folder/ends_at"); then
    [ "$said_for" = "$ends_at" ] || { said='' said_for=$ends_at; }
    left=$((ends_at - $(uptime_seconds)))
    note_idleness
    grace=$(number_in "$folder/grace_seconds") || grace=0
    if [ "$left" -le 0 ] && [ "$left" -gt $((-grace)) ] && has_unsaved_work; then
      : # the sweeper saves it, and then ends the machine
    elif [ "$left" -le 0 ]; then
      tell_everybody 'gpu-lol: the lease of this machine is over; it ends now.'
      end_machine
    else
      warn "$left"
    fi
  fi
  sleep "$round"
done
