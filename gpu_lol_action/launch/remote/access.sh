# shellcheck shell=bash disable=SC2154,SC2015,SC2088  # values stand in front of this script; ~ in messages is for people
# Runs on the machine. In: keys (public keys, one per line), nonce. Gives the requester access with their own key, and
# takes it from passwords. Run again, it replaces its own blocks and touches nothing else.
set -u
begin='# >>> gpu-lol >>>'
end='# <<< gpu-lol <<<'

fail() { printf '::gpu-lol-access %s failed %s\n' "$nonce" "$1"; exit 1; }

# without_block FILE: print it without our block. A block whose end is missing is not cut: its lines may be someone's keys.
without_block() {
  [ -f "$1" ] || return 0
  local line held='' is_inside=0
  while IFS= read -r line || [ -n "$line" ]; do
    if [ "$line" = "$begin" ]; then printf '%s' "$held"; held=''; is_inside=1
    elif [ "$line" = "$end" ] && [ "$is_inside" = 1 ]; then held=''; is_inside=0
    elif [ "$is_inside" = 1 ]; then held="$held$line"$'\n'
    else printf '%s\n' "$line"
    fi
  done < "$1"
  printf '%s' "$held"
}

install_keys() {
  umask 077
  mkdir -p "$HOME/.ssh" && chmod 700 "$HOME/.ssh" || fail 'the folder ~/.ssh cannot be made'
  local file=$HOME/.ssh/authorized_keys new
  [ ! -L "$file" ] || fail '~/.ssh/authorized_keys is a symbolic link'
  new=$(mktemp "$HOME/.ssh/.gpu-lol.XXXXXX") || fail 'no file can be written in ~/.ssh'
  { without_block "$file"; printf '%s\n%s\n%s\n' "$begin" "$keys" "$end"; } > "$new" && chmod 600 "$new" && mv -f "$new" "$file" ||
    fail '~/.ssh/authorized_keys cannot be written'
}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# The sshd that serves this connection is our topmost ancestor of that name: right also where several run.
find_sshd() {
  local pid=$$ name parent
  listener=''
  while [ "$pid" -gt 1 ]; do
    parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null) || return 0
    [ -n "$parent" ] && [ "$parent" -gt 0 ] || return 0
    name=$(cat "/proc/$parent/comm" 2>/dev/null) || return 0
    case $name in sshd*) listener=$parent ;; esac
    pid=$parent
  done
}

# The configuration file that this sshd was started with (`-f FILE`, else the default).
config_of() {
  local words word previous=''
  words=$(tr '\0' ' ' < "/proc/$1/cmdline")
  for word in $words; do
    if [ "$previous" = -f ]; then printf '%s' "$word"; return; fi
    previous=$word
  done
  printf /etc/ssh/sshd_config
}

# The sockets that listen on the port of this connection, by number.
listening() {
  local _ address state inode port
  printf -v port '%04X' "${SSH_CONNECTION##* }"
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r _ address _ state _ _ _ _ _ inode _; do
    if [ "$state" = 0A ] && [ "${address##*:}" = "$port" ]; then printf '%s\n' "$inode"; fi
  done
}

# Reading its configuration anew, sshd closes its sockets and starts once more: on a busy machine it refuses connections for
# a moment, and the next step's would be one of them. Where somebody else listens for it (systemd), nothing changes: go on.
wait_for_listener() {
  local before=$1 now tries=0
  while [ "$tries" -lt 100 ]; do
    now=$(listening)
    if [ -n "$now" ] && ! grep -qxF "$before" <<< "$now" && [ "$(wc -l <<< "$now")" -ge "$(wc -l <<< "$before")" ]; then return; fi
    sleep 0.1
    tries=$((tries + 1))
  done
}

forbid_passwords() {
  local config new sshd before
  find_sshd
  [ -n "$listener" ] || fail 'the SSH server that serves this connection was not found'
  config=$(config_of "$listener")
  sshd=$(command -v sshd || echo /usr/sbin/sshd)
  new=$(as_root mktemp "$config.gpu-lol.XXXXXX") || fail "$config cannot be changed"
  # At the top, because sshd takes the first value it reads, before any Include.
  { printf '%s\n' "$begin" 'PasswordAuthentication no' 'ChallengeResponseAuthentication no' 'PermitEmptyPasswords no' "$end"
    without_block "$config"; } | as_root tee "$new" > /dev/null || fail "$config cannot be written"
  if ! as_root "$sshd" -t -f "$new" 2> /tmp/gpu-lol-sshd.$$; then
    as_root rm -f "$new"; fail "sshd refuses the changed configuration: $(head -n 1 /tmp/gpu-lol-sshd.$$)"
  fi
  rm -f /tmp/gpu-lol-sshd.$$
  as_root chmod 644 "$new" && as_root mv -f "$new" "$config" || fail "$config cannot be replaced"
  before=$(listening)
  # SIGHUP makes the listener read its configuration anew and leaves open connections alone, with or without systemd.
  as_root kill -HUP "$listener" || fail 'the SSH server cannot be told to read its configuration anew'
  [ -z "$before" ] || wait_for_listener "$before"
}

install_keys
forbid_passwords
printf '::gpu-lol-access %s done\n' "$nonce"
