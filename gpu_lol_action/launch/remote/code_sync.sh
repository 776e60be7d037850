# shellcheck shell=bash disable=SC2154,SC2015  # follows code.sh, whose values and functions it has
# In besides: before (the commit that was shipped last). The machine's checkout moves on to the new commit where that touches
# no unsaved work; else it is left as it is, and why is said.
keep() { say "kept $1"; rm -rf "$incoming" "${fetched:-/nonexistent}"; say "done"; exit 0; }

# The checkout is somebody's: no hook, monitor or filter of its configuration acts, and bytes stay what they are.
in_target() {
  git -C "$target" -c core.autocrlf=false -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.symlinks=true \
    -c core.attributesFile=/dev/null -c gc.auto=0 -c maintenance.auto=false -c advice.detachedHead=false "$@" < /dev/null
}

attributes() {
  local file=$target/.git/info/attributes aside=$target/.git/info/attributes.gpu-lol
  if [ "$1" = on ]; then
    mkdir -p "$target/.git/info"
    [ -e "$file" ] && mv -f "$file" "$aside"
    printf '* -text -eol -ident -filter -working-tree-encoding -diff\n' > "$file"
  else
    rm -f "$file"
    [ -e "$aside" ] && mv -f "$aside" "$file"
  fi
  return 0
}

# Ours: the commit that was shipped, or the one of ours that stood for it.
is_shipped() {
  [ "$1" = "$before" ] && return 0
  [ "$(in_target log -1 --format='%an %s %P' "$1" 2> /dev/null | sed 's/ *$//')" = "gpu-lol Code of $before, as gpu-lol shipped it" ]
}

look_first() {
  [ -d "$target/.git" ] && [ ! -L "$target" ] || keep 'no_checkout 0'
  on=$(in_target symbolic-ref --short -q HEAD) || keep 'branch 0'
  old=$(in_target rev-parse -q --verify HEAD) || keep 'no_checkout 0'
  is_shipped "$old" || keep "commits $(in_target rev-list --count "$old" --not "$before" 2> /dev/null || echo 1)"
  in_target update-index -q --refresh > /dev/null 2>&1
  local changed
  changed=$( { in_target diff-index --name-only HEAD -- && in_target diff-index --cached --name-only HEAD --; } | sort -u | grep -c .)
  [ "$changed" = 0 ] || keep "changed $changed"
}

advance() {
  in_target fetch -q --update-shallow --no-tags --no-recurse-submodules "$incoming" "refs/heads/$branch" 2> "$state/git.log" ||
    fail "the new commit cannot be taken over: $(tail -n 1 "$state/git.log")"
  [ "$(in_target rev-parse -q --verify "$head^{tree}")" = "$arrived" ] || fail 'the new commit is not whole'
  # Untracked files are work too: what would be written over is found before anything is written.
  in_target read-tree -m -u -n "$old" "$head" 2> "$state/git.log" || keep "untracked $(grep -c . "$state/git.log")"
  in_target read-tree -m -u "$old" "$head" 2> "$state/git.log" || fail "git read-tree failed: $(tail -n 1 "$state/git.log")"
  in_target update-ref -m 'gpu-lol sync' HEAD "$head" "$old" || fail 'the branch cannot be moved'
  [ "$(in_target write-tree)" = "$arrived" ] || fail 'the checkout is not the new commit'
  printf '%s\n' "$sha" > "$state/GPU_LOL_SHA"
}

umask 022
mkdir -p "$state" || { say 'failed the home folder cannot be written'; exit 1; }
need_git
trap 'attributes off' EXIT
unpack
[ ! -d "$target/.git" ] || attributes on
look_first
stage
drop_escaping_links
commit
advance
# Links that lead out are in the index and not on the disk, as on a new machine.
made=$incoming
incoming=$target
drop_escaping_links
rm -rf "$made"
say "tree $arrived"
say "head $head"
say "links $dropped"
say "branch $on"
say "done"
