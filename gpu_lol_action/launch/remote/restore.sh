# shellcheck shell=bash disable=SC2154  # values stand in front of this script
# Runs on a new machine; standard input is what rescue.sh wrote. In: nonce, folder (the checkout's name). Puts saved work
# back where that harms nothing; whatever does not fit the new commit stays in ~/rescued-work, for a person to look at.
set -u
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C
say() { printf '::gpu-lol-restore %s %s %s\n' "$nonce" "$1" "$2"; }
in_checkout() { git -C "$checkout" -c core.fsmonitor=false -c core.hooksPath=/dev/null "$@" > /dev/null 2>&1; }

checkout=$HOME/$folder
saved=$HOME/rescued-work
rm -rf "$saved" && mkdir -p "$saved" && tar -xzf - -C "$saved" --no-same-owner 2> /dev/null ||
  { say failed 'what was saved cannot be unpacked'; exit 1; }
if [ -f "$saved/commits.bundle" ]; then
  if in_checkout fetch "$saved/commits.bundle" HEAD:refs/heads/rescued; then say commits 'on the branch rescued'
  else say kept commits.bundle
  fi
fi
if [ -s "$saved/changes.patch" ]; then
  # All of it or nothing: half a patch would be worse than one that waits.
  if in_checkout apply --check "$saved/changes.patch" && in_checkout apply "$saved/changes.patch"; then say changes 'in place'
  else say kept changes.patch
  fi
fi
if [ -f "$saved/files.tar" ]; then
  # Files that are there already are the new commit's, and win.
  if tar -xf "$saved/files.tar" -C "$checkout" --no-same-owner --skip-old-files 2> /dev/null; then say files 'in place'
  else say kept files.tar
  fi
fi
say 'done' .
