# shellcheck shell=bash disable=SC2154,SC2015  # follows code.sh, whose values and functions it has
# The checkout takes the place of whatever is there, which is moved aside.
place() {
  if [ -e "$target" ] || [ -L "$target" ]; then
    local number=1
    while [ -e "$target.before-gpu-lol-$number" ]; do number=$((number + 1)); done
    mv "$target" "$target.before-gpu-lol-$number" || fail "$folder exists and cannot be moved aside"
  fi
  mv "$incoming" "$target" || fail "$folder cannot be put in place"
  printf '%s\n' "$sha" > "$state/GPU_LOL_SHA"
  # /root on some images belongs to another user than ours; git would refuse to work in it.
  git config --global --get-all safe.directory 2> /dev/null | grep -qxF "$target" || git config --global --add safe.directory "$target"
}

umask 022
mkdir -p "$state" || { say 'failed the home folder cannot be written'; exit 1; }
need_git
unpack
stage
drop_escaping_links
commit
place
say "tree $arrived"
say "head $head"
say "links $dropped"
say "branch $branch"
say "done"
