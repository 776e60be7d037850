# shellcheck shell=bash disable=SC2154,SC1091,SC2012  # values stand in front of this script; names in the folder are ours
# Runs on the machine, after machine_python.sh and watching.sh. In: mode (run: a command; setup, latest: what was logged before),
# script (the command), folder (under HOME), seconds (its time box), sampler, most (bytes of output that are sent, from its end), nonce.
set -u
state=$HOME/.gpu-lol
runs=$state/runs
child=''

say() { printf '::gpu-lol-command %s %s\n' "$nonce" "$1"; }
fail() { say "failed $1"; exit 1; }

# The output goes to a file: what stays in the background keeps no connection open, and `logs` shows it later.
run() {
  umask 077
  mkdir -p "$runs" || fail 'the home folder cannot be written'
  # Two commands can begin within one second: the name's order is the order in which they began.
  log=$(mktemp "$runs/$(date -u +%Y%m%dT%H%M%S.%N).XXXXXX") || fail 'the home folder cannot be written'
  cd "$HOME/$folder" 2> /dev/null || cd "$HOME" || fail 'the home folder cannot be entered'
  local began=$SECONDS code python
  # Only to watch: what the command finds in its environment is what a person who logs in finds.
  python=$(gpu_lol_python > /dev/null 2>&1; printf '%s' "$python")
  (
    umask 022
    [ ! -f "$state/env" ] || . "$state/env"
    # A shell of its own: nothing of ours is in its variables, and what it was given is one argument.
    exec timeout -k 5 "$seconds" bash -c "$script"
  ) < /dev/null > "$log" 2>&1 &
  child=$!
  gpu_lol_watch "$child"
  wait "$child"
  code=$?
  say "exit $code"
  say "seconds $((SECONDS - began))"
  gpu_lol_watched
  # Of which commit the code is: what was changed on the machine speaks for none.
  if [ -z "$(git --no-optional-locks status --porcelain --untracked-files=no 2>&1 | head -c 1)" ]; then
    say "commit $(git rev-parse HEAD 2> /dev/null)"
  fi
  # The last runs are enough to look back at.
  ls -1 "$runs" | LC_ALL=C sort -r | tail -n +21 | while IFS= read -r old; do rm -f "$runs/$old"; done
}

choose() {
  case $mode in
    setup) log=$state/setup.log ;;
    *) log=$runs/$(ls -1 "$runs" 2> /dev/null | LC_ALL=C sort | tail -n 1) ;;
  esac
  [ -f "$log" ] || fail 'there is no such log yet'
  say "age $(($(date +%s) - $(stat -c %Y "$log")))"
}

if [ "$mode" = run ]; then run; else choose; fi
say "bytes $(stat -c %s "$log")"
say "output $(tail -c "$most" "$log" | base64 | tr -d '\n')"
say 'done .'
