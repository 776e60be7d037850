# shellcheck shell=bash disable=SC2154  # values stand in front of this script
# Runs on the machine. In: nonce, left_seconds, ends_text, watch_seconds, grace_seconds, checkout
# (a name in the home folder), sha, keep (patterns), watcher (the text of watch.sh). Tells the machine
# when its lease ends and starts the watcher, unless it runs already. Run again, it moves the end.
set -u
umask 077
folder=$HOME/.gpu-lol
begin='# >>> gpu-lol >>>'
end='# <<< gpu-lol <<<'

fail() { printf '::gpu-lol-lease %s failed %s\n' "$nonce" "$1"; exit 1; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

put() { printf '%s\n' "$2" > "$folder/$1.new" && mv -f "$folder/$1.new" "$folder/$1" || fail "$folder/$1 cannot be written"; }

# What one reads at each login. It is a courtesy: where it cannot be written, nothing else is lost.
announce() {
  local new
  new=$( [ -f /etc/motd ] && sed "/^$begin\$/,/^$end\$/d" /etc/motd; printf '%s\n%s\n%s\n%s\n' "$begin" \
    "This machine ends at $ends_text. Push your work before: a sweep saves what is in the checkout then, and nothing else." "More time: /gpu-lol extend 1h   Done: /gpu-lol down" "$end")
  printf '%s\n' "$new" | as_root tee /etc/motd > /dev/null 2>&1 || true
}

is_watching() {
  local pid=''
  [ -f "$folder/watch.pid" ] && read -r pid < "$folder/watch.pid"
  case $pid in '' | *[!0-9]*) return 1 ;; esac
  tr '\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | grep -qF "$folder/watch.sh"
}

[ ! -L "$folder" ] && mkdir -p "$folder" || fail "the folder $folder cannot be made"
read -r up _ < /proc/uptime
put ends_text "$ends_text"
put grace_seconds "$grace_seconds"
put checkout "$HOME/$checkout"
put sha "$sha"
put keep "$keep"
put ends_at "$((${up%%.*} + left_seconds))"
announce
if ! is_watching; then
  put watch.sh "$watcher"
  # With no terminal, no descriptor of this connection and a session of its own: it stays when we are gone.
  GPU_LOL_WATCH_SECONDS=$watch_seconds setsid nohup bash "$folder/watch.sh" "$folder" < /dev/null > /dev/null 2>&1 &
  put watch.pid "$!"
fi
printf '::gpu-lol-lease %s done\n' "$nonce"
