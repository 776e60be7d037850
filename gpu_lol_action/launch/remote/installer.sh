# shellcheck shell=bash disable=SC2154  # python, state and say come from the scripts around this one
# Defines gpu_lol_install: pip or uv, and once more where a list is right and only its time has passed. Such an install fails for
# everybody who asks for it today, and did not when it was written down, for one of four reasons:
#  - a build imports what newer tools no longer have (setuptools 82 took pkg_resources away; 72, 58 and Cython 3 other things);
#  - a build imports what it never said that it needs (torch, numpy), which a build on its own does not see;
#  - an old package states what it needs in a way that pip 24.1 stopped to read (omegaconf 2.0, which fairseq asks for);
#  - versions contradict what their packages say of each other: pip before 20.3 only warned of that.
# Each is met by variables that both installers read, so the command stays as it is. What was done is said, for the ready comment.

gpu_lol_pip() (
  cd "$state" || exit
  if [ -n "${older_pip:-}" ]; then "$python" "$older_pip" "$@"; else "$python" -m pip "$@"; fi
)

# pip first: it reads the pip.conf of the image or platform, which uv does not. From our own folder: a pip.py or uv.toml in the code
# must not take part.
gpu_lol_installer() (
  cd "$state" || exit
  if "$python" -m pip --version > /dev/null 2>&1 || { ! command -v uv > /dev/null && "$python" -m ensurepip --upgrade; }; then
    gpu_lol_pip install "$@"
  elif command -v uv > /dev/null; then
    uv pip install --python "$python" "$@"
  else
    echo "$python has no pip, and the image has no uv"; exit 1
  fi
)

# gpu_lol_install FILE [OPTION...]: the requirements of a file.
gpu_lol_install() {
  local list=$1 options=("${@:2}")
  shift
  gpu_lol_overcome gpu_lol_installer "$@" -r "$list"
}

# gpu_lol_overcome COMMAND [ARGUMENT...]: each remedy once, as long as one is left for what was said. `list` is the file that the
# command installs from, if any.
gpu_lol_overcome() {
  local code said=$state/install.out limits='' older_pip='' is_open='' is_as_asked='' aside=() line held='' let_go=()
  gpu_lol_hold
  while :; do
    "$@" 2>&1 | tee "$said"
    code=${PIPESTATUS[0]}
    [ "$code" != 0 ] || break
    gpu_lol_let_go || gpu_lol_older_pip || gpu_lol_older_tools || gpu_lol_open_builds || gpu_lol_set_aside || gpu_lol_as_asked || return "$code"
  done
  for line in ${aside[@]+"${aside[@]}"}; do
    gpu_lol_installer ${options[@]+"${options[@]}"} "$line" || return
  done
  gpu_lol_say_moved
}

# In a folder of its own: the environment keeps its pip.
gpu_lol_older_pip() {
  [ -z "$older_pip" ] && grep -q 'Please use pip<24\.1' "$said" || return 1
  gpu_lol_pip install --quiet --target "$state/older_pip" 'pip<24.1' || return 1
  older_pip=$state/older_pip/pip
  say 'note older pip<24.1'
  echo 'A package can only be read by an older pip: once more with pip<24.1.'
}

# Only what the failed build lacked is held back: for builds, and by pip before 25.3 in the environment as well.
gpu_lol_older_tools() {
  local pattern limit file=$state/build_constraints.txt
  while IFS=$'\t' read -r pattern limit; do
    case " $limits " in *" $limit "*) continue ;; esac
    grep -qE -- "$pattern" "$said" || continue
    limits+=" $limit"
    # shellcheck disable=SC2086 # limits of ours: one word each
    printf '%s\n' $limits > "$file"
    export PIP_BUILD_CONSTRAINT="$file${held:+ $held}" UV_BUILD_CONSTRAINT="$file${held:+ $held}"
    # That pip does not know the variable for builds; the one for all reaches them too.
    if ! gpu_lol_pip install --help 2> /dev/null | grep -q -- --build-constraint; then
      case " ${PIP_CONSTRAINT:-} " in *" $file "*) ;; *) export PIP_CONSTRAINT="${PIP_CONSTRAINT:+$PIP_CONSTRAINT }$file" ;; esac
    fi
    say "note older $limit"
    echo "A build needs $limit: once more with it."
    return 0
  done << 'LIMITS'
No module named '?pkg_resources	setuptools<81
No module named '?setuptools\.command\.test	setuptools<72
use_2to3 is invalid	setuptools<58
'extras_require' must be a dictionary	setuptools<66 wheel<0.40
cython_sources	cython<3
LIMITS
  return 1
}

# What builds look for is installed first, in the version that the list asks for, and they see what is installed.
gpu_lol_open_builds() {
  local name wanted=()
  [ -z "$is_open" ] || return 1
  while IFS= read -r name; do
    wanted+=("$(grep -hiE -m 1 "^$name([^A-Za-z0-9._-]|\$)" "$state/requirements.txt" 2> /dev/null || printf %s "$name")")
  done < <(grep -oE "No module named '?(torch|numpy|scipy|Cython|pybind11|packaging|wheel|ninja|psutil|pip)\b" "$said" |
    sed "s/.* '\{0,1\}//" | tr '[:upper:]' '[:lower:]' | sort -u)
  [ "${#wanted[@]}" -gt 0 ] || return 1
  is_open=1
  printf 'A build needs what is installed: once more with %s in its sight.\n' "${wanted[*]}"
  gpu_lol_installer 'setuptools<81' wheel "${wanted[@]}" || return 1
  say 'note open'
  # pip takes 0 for "no isolation".
  export PIP_NO_BUILD_ISOLATION=0 UV_NO_BUILD_ISOLATION=1
}

# A line of the list that pip names in a contradiction waits until all others are there, and then gets the version that it asks for:
# so the others still get versions that go together.
gpu_lol_set_aside() {
  local name line is_new=''
  [ -n "${list:-}" ] && [ "${#aside[@]}" -lt 6 ] || return 1
  while IFS= read -r name; do
    line=$(grep -iE -m 1 "^$(gpu_lol_spelled "$name")([^A-Za-z0-9._-]|\$)" "$list") || continue
    [ "${#aside[@]}" -gt 0 ] || cp "$list" "$list.whole"
    grep -vxF -- "$line" "$list" > "$list.part"
    mv "$list.part" "$list"
    aside+=("$line")
    is_new=1
    say "note aside ${line%%[!A-Za-z0-9._-]*}"
    printf 'The others contradict %s: once more without, and that one afterwards.\n' "$line"
  done < <(sed -nE 's/^ *The user requested ([A-Za-z0-9._-]{1,100}).*/\1/p' "$said" | sort -u)
  [ -n "$is_new" ]
}

# A name as a pattern: case and separators do not tell packages apart.
gpu_lol_spelled() { printf %s "$1" | sed -E 's/[-_.]+/[-_.]+/g'; }

# What the list itself asks for counts; the installer warns of what does not go together.
gpu_lol_as_asked() {
  local file=$state/overrides.txt
  [ -z "$is_as_asked${PIP_USE_DEPRECATED:-}${UV_OVERRIDE:-}" ] || return 1
  [ "${#aside[@]}" -gt 0 ] || grep -qE 'ResolutionImpossible|resolution-too-deep|No solution found when resolving' "$said" || return 1
  # What waits would have been the way out, and was not.
  if [ "${#aside[@]}" -gt 0 ]; then mv "$list.whole" "$list"; aside=(); fi
  grep -hE '^[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+$' "$state/requirements.txt" > "$file" 2> /dev/null
  is_as_asked=1
  export PIP_USE_DEPRECATED=legacy-resolver UV_OVERRIDE=$file
  say 'note as_asked'
  echo 'What is asked for contradicts itself: once more, each in the version that is asked for.'
}
