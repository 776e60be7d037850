# shellcheck shell=bash disable=SC2154,SC2088  # values stand in front of this script; ~ in messages is for people
# Runs on the machine. In: login, person_keys (public keys that end in that login, one per line, or none), nonce. Makes
# these the person's only lines in our block of authorized_keys; every other line stays as it is.
set -u
begin='# >>> gpu-lol >>>'
end='# <<< gpu-lol <<<'
file=$HOME/.ssh/authorized_keys

fail() { rm -f "${new:-/nonexistent}"; printf '::gpu-lol-access %s failed %s\n' "$nonce" "$1"; exit 1; }

changed() {
  local line is_inside=0 is_done=0
  while IFS= read -r line || [ -n "$line" ]; do
    if [ "$line" = "$begin" ]; then is_inside=1
    elif [ "$line" = "$end" ] && [ "$is_inside" = 1 ]; then
      is_inside=0
      # Where the block stands twice, the person is in the first alone.
      if [ "$is_done" = 0 ] && [ -n "$person_keys" ]; then printf '%s\n' "$person_keys"; fi
      is_done=1
    elif [ "$is_inside" = 1 ] && [ "${line##* }" = "$login" ]; then continue
    fi
    printf '%s\n' "$line"
  done < "$file"
  # A block without an end: its lines may be anybody's.
  [ "$is_done" = 1 ] && [ "$is_inside" = 0 ]
}

umask 077
[ -f "$file" ] && [ ! -L "$file" ] || fail '~/.ssh/authorized_keys is no plain file'
new=$(mktemp "$HOME/.ssh/.gpu-lol.XXXXXX") || fail 'no file can be written in ~/.ssh'
changed > "$new" || fail 'the block of keys in ~/.ssh/authorized_keys is not whole'
chmod 600 "$new" && mv -f "$new" "$file" || fail '~/.ssh/authorized_keys cannot be written'
printf '::gpu-lol-access %s done\n' "$nonce"
