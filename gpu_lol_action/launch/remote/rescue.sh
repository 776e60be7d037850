# shellcheck shell=bash disable=SC2154  # values stand in front of this script
# Runs on the machine before it ends. In: nonce, folder (the checkout's name), sha (what was shipped), keep (paths of the
# checkout, one per line), max_bytes. Standard output is a tar.gz of what would be lost; standard error says what is in it:
#   changes.patch   tracked files against the commit that was shipped, staged and unstaged together
#   commits.bundle  commits that no remote has (a git bundle)
#   files.tar       files that git does not track, and what `keep` names, ignored or not
#   LEFT_OUT.txt    what was too large, one path per line
# It changes nothing of the checkout and starts no program that the checkout's configuration names.
set -u
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C
say() { printf '::gpu-lol-rescue %s %s %s\n' "$nonce" "$1" "$2" >&2; }
in_checkout() { git -C "$checkout" -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.quotePath=false --no-optional-locks "$@"; }

checkout=$HOME/$folder
[ -d "$checkout/.git" ] || { say failed 'there is no checkout'; exit 1; }
mkdir -p "$HOME/.gpu-lol" && stage=$(mktemp -d "$HOME/.gpu-lol/rescue.XXXXXX") || { say failed 'no folder can be made'; exit 1; }
trap 'rm -rf "$stage"' EXIT
: > "$stage/LEFT_OUT.txt"
: > "$stage/list"
total=0

# fits BYTES: whether there is room for so many more, which are then taken.
fits() { [ $((total + $1)) -le "$max_bytes" ] && total=$((total + $1)); }
size_of() { stat -c %s -- "$1" 2> /dev/null || echo 0; }

take_changes() {
  in_checkout diff --binary --no-ext-diff --no-textconv --no-color "$sha" > "$stage/changes.patch" 2> /dev/null
  say changed "$(in_checkout diff --name-only --no-ext-diff "$sha" 2> /dev/null | wc -l)"
  fits "$(size_of "$stage/changes.patch")" || { echo 'changes.patch' >> "$stage/LEFT_OUT.txt"; rm -f "$stage/changes.patch"; }
}

take_commits() {
  local count
  count=$(in_checkout rev-list --count HEAD --not "$sha" --remotes 2> /dev/null) || count=0
  say commits "$count"
  [ "$count" != 0 ] || return 0
  in_checkout bundle create -q "$stage/commits.bundle" HEAD "^$sha" 2> /dev/null
  fits "$(size_of "$stage/commits.bundle")" || { echo 'commits.bundle' >> "$stage/LEFT_OUT.txt"; rm -f "$stage/commits.bundle"; }
}

# Only regular files: what a link points at may lie anywhere.
take_files() {
  local path count=0 pattern
  local -a patterns=()
  while IFS= read -r pattern; do
    [ -z "$pattern" ] || patterns+=(":(top,glob)$pattern" ":(top,glob)$pattern/**")
  done <<< "$keep"
  while IFS= read -r -d '' path; do
    [ -f "$checkout/$path" ] && [ ! -L "$checkout/$path" ] || continue
    if fits "$(size_of "$checkout/$path")"; then printf '%s\0' "$path" >> "$stage/list"; count=$((count + 1))
    else printf '%s\n' "$path" >> "$stage/LEFT_OUT.txt"
    fi
  done < <({ in_checkout ls-files -z --others --exclude-standard
    [ ${#patterns[@]} = 0 ] || in_checkout ls-files -z --others -- "${patterns[@]}"; } 2> /dev/null | sort -zu)
  say files "$count"
  [ "$count" = 0 ] || tar -cf "$stage/files.tar" -C "$checkout" --null --no-recursion --files-from="$stage/list" 2> /dev/null
}

take_changes
take_commits
take_files
say left_out "$(wc -l < "$stage/LEFT_OUT.txt")"
rm -f "$stage/list"
tar -czf - -C "$stage" . && say 'done' .
