# shellcheck shell=bash disable=SC2154,SC1091  # values stand in front of this script
# Runs on the machine, after machine_python.sh and watching.sh. In: script (the test), folder (under HOME), own_report (where the test itself writes a JUnit report, or
# nothing), seconds (its time box), sampler (gpu_lol_sampler.py in base64), most_log, most_report (bytes that are sent), nonce.
set -u
state=$HOME/.gpu-lol
runs=$state/runs

say() { printf '::gpu-lol-smoke %s %s\n' "$nonce" "$1"; }
fail() { say "failed $1"; exit 1; }
# In lines, because a line of any length would have to be held whole.
send() { base64 -w 4096 | while IFS= read -r part || [ -n "$part" ]; do say "$1 $part"; done; }

gpu_lol_python
umask 077
mkdir -p "$runs" || fail 'the home folder cannot be written'
log=$(mktemp "$runs/$(date -u +%Y%m%dT%H%M%S.%N).XXXXXX") || fail 'the home folder cannot be written'
report=$state/junit.xml
rm -f "$report"
cd "$HOME/$folder" 2> /dev/null || fail 'the checkout is not there'
# A report of an earlier life of this checkout says nothing of this test.
case $own_report in '' | /*) own=$own_report ;; *) own=$PWD/$own_report ;; esac
[ -z "$own" ] || rm -f "$own" 2> /dev/null

began=$SECONDS
(
  umask 022
  [ ! -f "$state/env" ] || . "$state/env"
  export GPU_LOL_SMOKE=1 GPU_LOL_JUNIT="$report" PYTHONUNBUFFERED=1
  export PYTEST_ADDOPTS="${PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }--junitxml=$report"
  # Images of Debian have python3 alone; what was installed is where set-up's Python is.
  if ! command -v python > /dev/null && [ -n "$python" ]; then
    mkdir -p "$state/bin" && ln -sfn "$python" "$state/bin/python" && PATH=$PATH:$state/bin
  fi
  exec timeout -k 10 "$seconds" bash -c "$script"
) < /dev/null > "$log" 2>&1 &
child=$!
gpu_lol_watch "$child"
# The log is a file, so that what stays in the background keeps no connection open; its lines are shown as they come.
tail -n +1 -s 0.5 --pid="$child" -f "$log" 2> /dev/null &
shown=$!
wait "$child"
code=$?
wait "$shown"
# What is shown next begins on a line of its own, also where the log ends without one.
echo
say "exit $code"
say "seconds $((SECONDS - began))"
gpu_lol_watched
say "log-bytes $(stat -c %s "$log")"
tail -c "$most_log" "$log" | send log

[ -s "$report" ] || [ -z "$own" ] || report=$own
if [ -f "$report" ] && [ -s "$report" ]; then
  size=$(stat -L -c %s "$report")
  if [ "$size" -le "$most_report" ]; then send report < "$report"; else say "report-note it has $size bytes"; fi
else
  say 'report-note the command wrote none'
fi
say 'done .'
