# shellcheck shell=bash disable=SC2154  # values stand in front of this script
# Runs on the machine. In: nonce, folder (the checkout's name), sha (what was shipped), keep (patterns). Says how long nobody has used the
# machine and what would be lost with it. It changes nothing.
say() { printf '::gpu-lol-look %s %s %s\n' "$nonce" "$1" "$2"; }
ours=$HOME/.gpu-lol

if [ -f "$ours/ends_at" ]; then
  read -r up _ < /proc/uptime
  since=''
  [ -f "$ours/idle_since" ] && read -r since < "$ours/idle_since"
  case $since in
    '') say idle_seconds 0 ;;
    *[!0-9]*) ;;
    *) say idle_seconds "$((${up%%.*} - since))" ;;
  esac
fi

# The checkout is somebody's: no hook, pager, or file system monitor of its configuration is started by a look.
in_checkout() { timeout 30 git -C "$checkout" -c core.fsmonitor=false -c core.hooksPath=/dev/null --no-optional-locks "$@"; }
checkout=
for place in "$HOME/$folder" "/workspace/$folder"; do
  if [ -d "$place/.git" ]; then checkout=$place; break; fi
done
if [ -n "$checkout" ] && status=$(in_checkout status --porcelain=v1 --untracked-files=normal 2> /dev/null); then
  say changed "$(grep -c '^[^?]' <<< "$status")"
  say untracked "$(grep -c '^??' <<< "$status")"
  declare -a patterns=()
  while IFS= read -r pattern; do
    [ -z "$pattern" ] || patterns+=(":(top,glob)$pattern" ":(top,glob)$pattern/**")
  done <<< "$keep"
  if [ ${#patterns[@]} != 0 ]; then
    say kept "$(in_checkout ls-files -z --others --ignored --exclude-standard -- "${patterns[@]}" 2> /dev/null | tr -dc '\0' | wc -c)"
  fi
  commits=$(in_checkout rev-list --count HEAD --not "$sha" --remotes 2> /dev/null) && say unpushed "$commits"
fi
say 'done' .
