# shellcheck shell=bash disable=SC2154,SC1091,SC2012  # values stand in front of this script; names in the folder are ours
# Runs on the machine. In: mode (run: a command; setup, latest: what was logged before), script (the command), folder (under
# HOME), seconds (its time box), most (bytes of output that are sent, from its end), nonce.
set -u
state=$HOME/.gpu-lol
runs=$state/runs

say() { printf '::gpu-lol-command %s %s\n' "$nonce" "$1"; }
fail() { say "failed $1"; exit 1; }

# The output goes to a file: what stays in the background keeps no connection open, and `logs` shows it later.
run() {
  umask 077
  mkdir -p "$runs" || fail 'the home folder cannot be written'
  # Two commands can begin within one second: the name's order is the order in which they began.
  log=$(mktemp "$runs/$(date -u +%Y%m%dT%H%M%S.%N).XXXXXX") || fail 'the home folder cannot be written'
  cd "$HOME/$folder" 2> /dev/null || cd "$HOME" || fail 'the home folder cannot be entered'
  local began=$SECONDS code
  (
    umask 022
    [ ! -f "$state/env" ] || . "$state/env"
    # A shell of its own: nothing of ours is in its variables, and what it was given is one argument.
    exec timeout -k 5 "$seconds" bash -c "$script"
  ) < /dev/null > "$log" 2>&1
  code=$?
  say "exit $code"
  say "seconds $((SECONDS - began))"
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
