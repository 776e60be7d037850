# shellcheck shell=bash disable=SC2154,SC2015,SC2034  # values stand in front of this script; ~ in messages is for people
# Runs on the machine, after apt.sh; standard input is a tar.gz of the commit's tree. In: folder (name under HOME), sha, tree (may be
# empty), strip (leading folders in the archive), origin, push_url (may be empty), branch, commit_base64 (the commit object, may be empty),
# gitlinks ("SHA<tab>PATH" lines: submodules), may_fetch (yes: a public repository), nonce.
# A git checkout is made of exactly these files. Its tree id is computed here, so that it proves what arrived. What is done
# with it stands in code_place.sh (a new machine) or code_sync.sh (one that runs).
set -u
export GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 LC_ALL=C
state=$HOME/.gpu-lol
target=$HOME/$folder

say() { printf '::gpu-lol-code %s %s\n' "$nonce" "$1"; }
fail() { say "failed $1"; rm -rf "${incoming:-/nonexistent}"; exit 1; }

need_git() {
  command -v git > /dev/null && return
  gpu_lol_apt git > "$state/git.log" 2>&1 < /dev/null || fail 'git is not in the image and cannot be installed; take an image that has it'
}

# Nothing of the archive may act while we work on it: no attributes (filters, line ends), no hooks, no monitors.
plain_git() {
  git -C "$incoming" -c core.autocrlf=false -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.symlinks=true \
    -c core.fileMode=true -c core.longpaths=true -c core.ignoreCase=false -c core.precomposeUnicode=false \
    -c user.name=gpu-lol -c user.email=gpu-lol@localhost -c commit.gpgSign=false -c gc.auto=0 "$@"
}

unpack() {
  incoming=$(mktemp -d "$state/incoming.XXXXXX") || fail 'no folder can be made in the home folder'
  tar -xzf - -C "$incoming" --strip-components="$strip" --no-same-owner --delay-directory-restore 2> "$state/tar.log" ||
    fail "the archive cannot be unpacked: $(tail -n 1 "$state/tar.log")"
  [ -z "$(find "$incoming" -iname .git -print -quit)" ] || fail 'the archive holds a .git folder, which no commit can'
}

stage() {
  plain_git init -q || fail 'git init failed'
  # The highest attributes file there is: bytes stay as they are, whatever .gitattributes of the tree says.
  mkdir -p "$incoming/.git/info"
  printf '* -text -eol -ident -filter -working-tree-encoding -diff\n' > "$incoming/.git/info/attributes"
  plain_git add -A -f . 2> "$state/git.log" || fail "git add failed: $(tail -n 1 "$state/git.log")"
  local id path
  while IFS=$'\t' read -r id path; do
    [ -n "$id" ] || continue
    mkdir -p "$incoming/$path"
    plain_git update-index --add --cacheinfo "160000,$id,$path" || fail "the submodule $path cannot be recorded"
  done <<< "$gitlinks"
  arrived=$(plain_git write-tree) || fail 'git write-tree failed'
  [ -z "$tree" ] || [ "$arrived" = "$tree" ] || fetch_instead || fail "wrong tree: $arrived arrived, the commit has $tree$(explain)"
}

# GitHub's archives leave out (export-ignore) or rewrite (export-subst) what .gitattributes asks for.
explain() {
  if grep -rqs --include=.gitattributes -e export-ignore -e export-subst "$incoming"; then
    printf ' (.gitattributes has export-ignore or export-subst, which change archives)'
  elif [ -f "$incoming/.gitmodules" ]; then
    printf ' (it has submodules)'
  fi
}

fetch_commit() {
  [ "$may_fetch" = yes ] && [ -n "$origin" ] || return 1
  timeout 60 git -C "$incoming" -c core.hooksPath=/dev/null -c core.fsmonitor=false -c fetch.fsckObjects=true \
    fetch -q --depth=1 --no-tags --no-recurse-submodules "$origin" "$sha" < /dev/null 2> "$state/git.log"
}

# Where the archive is not the commit and the repository is public, the commit itself is asked for; its ids prove it.
fetch_instead() {
  fetch_commit && [ "$(plain_git rev-parse "$sha^{tree}" 2> /dev/null)" = "$tree" ] || return 1
  plain_git read-tree "$sha" && plain_git checkout-index -a -f && plain_git clean -ffdxq || return 1
  plain_git add -u . 2> "$state/git.log" || return 1
  arrived=$(plain_git write-tree) && [ "$arrived" = "$tree" ]
}

# A link that leads out of the checkout stays in the index and is not made: nothing of the archive points at the machine.
drop_escaping_links() {
  local mode id stage path place aim
  dropped=0
  while IFS=$' \t' read -r -d '' mode id stage path; do
    [ "$mode" = 120000 ] || continue
    place=$incoming/$path
    aim=$(readlink "$place")
    case $aim in
      /*) ;;
      *) case $(realpath -m -s "$(dirname "$place")/$aim") in "$incoming" | "$incoming"/*) continue ;; esac ;;
    esac
    rm -f "$place"
    plain_git update-index --skip-worktree -- "$path"
    dropped=$((dropped + 1))
  done < <(plain_git ls-files -s -z)
}

# HEAD becomes the commit itself where we have its bytes (or may fetch it); else a commit of ours with the same tree.
commit() {
  local id='' made
  head=''
  if [ -n "$commit_base64" ]; then
    id=$(printf %s "$commit_base64" | base64 -d | plain_git hash-object -t commit -w --stdin --literally)
    if [ "$id" = "$sha" ]; then plain_git cat-file commit "$sha" | grep -q '^parent ' && printf '%s\n' "$sha" > "$incoming/.git/shallow"; head=$sha; fi
  fi
  if [ -z "$head" ] && fetch_commit && [ "$(plain_git rev-parse "$sha^{tree}" 2> /dev/null)" = "$arrived" ]; then head=$sha; fi
  if [ -z "$head" ]; then
    made=$(printf 'Code of %s, as gpu-lol shipped it\n' "$sha" | plain_git commit-tree "$arrived") || fail 'git commit-tree failed'
    head=$made
  fi
  if ! plain_git check-ref-format --branch "$branch" > /dev/null 2>&1; then branch=gpu-lol; fi
  plain_git update-ref "refs/heads/$branch" "$head" && plain_git symbolic-ref HEAD "refs/heads/$branch" || fail 'the branch cannot be set'
  [ -z "$origin" ] || plain_git remote add origin "$origin" || fail 'the remote cannot be set'
  if [ -n "$push_url" ]; then
    # `git push` as it stands: to the pull request's branch, by SSH, with the agent of whoever is logged in.
    plain_git remote set-url --push origin "$push_url" && plain_git config "branch.$branch.remote" origin &&
      plain_git config "branch.$branch.merge" "refs/heads/$branch" &&
      plain_git config core.sshCommand 'ssh -o StrictHostKeyChecking=accept-new' || fail 'the remote cannot be set'
  fi
  rm -f "$incoming/.git/info/attributes"
}
