# shellcheck shell=bash disable=SC2154,SC1091  # values stand in front of this script; ~ in messages is for people
# Runs on the machine, after machine_python.sh. In: nonce, request (base64), archive (base64 of a Python zip archive).
set -u
gpu_lol_python
if [ -z "$python" ]; then printf '::gpu-lol-probe %s %s\n' "$nonce" '{"error": "the image has no Python 3.7 or newer"}'; exit 0; fi
place=$(mktemp -d) || { printf '::gpu-lol-probe %s %s\n' "$nonce" '{"error": "no temporary folder can be made"}'; exit 0; }
trap 'rm -rf "$place"' EXIT
printf %s "$archive" | base64 -d > "$place/probe.zip"
[ -f "$HOME/.gpu-lol/env" ] && . "$HOME/.gpu-lol/env" > /dev/null 2>&1
unset PYTHONPATH PYTHONSTARTUP PYTHONHOME
# An empty folder of ours: no module of the code may stand in for one that the validator imports.
cd "$place" && "$python" "$place/probe.zip" "$request" < /dev/null
