# shellcheck shell=bash disable=SC2034,SC2154  # values stand in front of this script
# Runs on the machine, after machine_python.sh and machine_inventory.sh. In: nonce, most_each (bytes that are sent of a list).
# Sends what set-up found, what it left, and what is here now; changes nothing. No variable of the environment is sent.
set -u
state=$HOME/.gpu-lol

say() { printf '::gpu-lol-snapshot %s %s\n' "$nonce" "$1"; }
send() { say "$1 $(head -c "$most_each" "$2" | base64 | tr -d '\n')"; }

[ -s "$state/inventory.image" ] && [ -s "$state/inventory.setup" ] || { say 'failed no_inventory'; exit 0; }
gpu_lol_python
# The interpreter that set-up installed for, though another one may have come in front of it since.
recorded=$(head -n 1 "$state/inventory.python" 2> /dev/null)
[ ! -x "$recorded" ] || python=$recorded
now=$(mktemp) || { say 'failed its disk cannot be written'; exit 0; }
gpu_lol_inventory > "$now" 2> /dev/null
send image "$state/inventory.image"
send setup "$state/inventory.setup"
send now "$now"
rm -f "$now"
say 'done .'
