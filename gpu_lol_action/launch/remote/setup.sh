# shellcheck shell=bash disable=SC2034,SC2154,SC1091,SC2088,SC2016  # values stand in front of this script; ~ in messages is for people
# Runs on the machine, after apt.sh, machine_python.sh, machine_inventory.sh, held.sh and installer.sh. In: nonce, folder, environment_file (a shell file), system_packages,
# requirements, last_requirements (built without isolation, after the others), constraints (for those), asset_links ("FROM<tab>TO"), setup_commands (base64, one command per line), mode (setup or repair).
# Each step says when it begins and how it ended; all output goes to ~/.gpu-lol/setup.log as well. What was installed before
# and after it stays in ~/.gpu-lol/inventory.*, for a snapshot of what came later.
set -u
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INPUT=1
export PIP_BREAK_SYSTEM_PACKAGES=1 UV_BREAK_SYSTEM_PACKAGES=1 GIT_TERMINAL_PROMPT=0
state=$HOME/.gpu-lol
log=$state/setup.log

say() { printf '::gpu-lol-setup %s %s\n' "$nonce" "$1"; }

# step NAME FUNCTION [ARGUMENT]: the number of seconds comes from bash's own counter.
step() {
  local name=$1 began=$SECONDS code
  shift
  say "start $name"
  printf '== %s\n' "$name" >> "$log"
  ( "$@" ) < /dev/null 2>&1 | tee -a "$log"
  code=${PIPESTATUS[0]}
  say "end $name $code $((SECONDS - began))"
  [ "$code" = 0 ] || exit "$code"
}

write_environment() {
  umask 022
  # The image's PATH stays in front for logins by SSH; programs find what `docker run` would show them.
  # Read by dash as well (/etc/profile): quotes are plain. The spec's variables come last, so that they win.
  { printf '%sexport PATH=%s\n%s\n' "$image_variables" "$(gpu_lol_quote "$PATH")" "$environment_file"; shared_memory_settings; } > "$state/env"
  [ -d /etc/profile.d ] && as_root cp "$state/env" /etc/profile.d/gpu-lol.sh
  # Shells that are not login shells read .bashrc; ours comes first there, because many stop early when not interactive.
  local begin='# >>> gpu-lol >>>' end='# <<< gpu-lol <<<' rest=''
  [ -f "$HOME/.bashrc" ] && rest=$(sed "/^$begin\$/,/^$end\$/d" "$HOME/.bashrc")
  printf '%s\n%s\n%s\n%s\n' "$begin" '[ -f "$HOME/.gpu-lol/env" ] && . "$HOME/.gpu-lol/env"' "$end" "$rest" > "$state/bashrc" &&
    cat "$state/bashrc" > "$HOME/.bashrc" && rm -f "$state/bashrc"
}

# NCCL and DataLoader workers talk through /dev/shm; Docker's default of 64 MiB is too little for either.
shared_memory_settings() {
  local have
  have=$(df -Pk /dev/shm 2> /dev/null | awk 'NR == 2 {print $2}')
  [ "${have:-0}" -lt 1048576 ] || return 0
  as_root mount -o remount,size=50% /dev/shm 2> /dev/null && return 0
  printf 'export NCCL_SHM_DISABLE=1\n'
}

install_system_packages() {
  # shellcheck disable=SC2086 # names were checked: one word each
  gpu_lol_apt $system_packages
}

install_requirements() {
  [ -n "$python" ] || { echo 'the image has no Python 3.7 or newer'; return 1; }
  echo "python: $python ($("$python" --version 2>&1))"
  # Run from our own folder: a pip.py or setup.cfg in the code must not take part. The spec's variables do (MAX_JOBS).
  cd "$state" || return 1
  [ ! -f env ] || . ./env
  printf '%s\n' "$requirements" > requirements.txt
  printf '%s\n' "$last_requirements" > last_requirements.txt
  [ -z "$requirements" ] || gpu_lol_install requirements.txt || return
  [ -n "$last_requirements" ] || return 0
  printf '%s\n' "$constraints" > constraints.txt
  # Their builds import what is installed (torch), which an isolated build does not see. What isolation would have brought is
  # installed where it is missing; where that fails, a wheel may still do, and the build says what it lacks.
  local missing
  missing=$("$python" -c 'import importlib.util as u
print(*(n for n in ("setuptools", "wheel", "packaging", "ninja", "psutil") if u.find_spec(n) is None))')
  # shellcheck disable=SC2086 # names of ours: one word each
  [ -z "$missing" ] || gpu_lol_installer $missing || echo "tools to build with could not be installed: $missing"
  gpu_lol_install last_requirements.txt --no-build-isolation -c constraints.txt
}

link_assets() {
  local from to
  while IFS=$'\t' read -r from to; do
    [ -n "$from" ] || continue
    case $from in '~/'*) from=$HOME/${from#'~/'} ;; esac
    case $to in '~/'*) to=$HOME/${to#'~/'} ;; esac
    mkdir -p "$from" "$(dirname "$to")" || return 1
    if [ -d "$to" ] && [ ! -L "$to" ]; then
      rmdir "$to" 2> /dev/null || { echo "$to is a folder with files in it; it is left as it is"; continue; }
    elif [ -e "$to" ] && [ ! -L "$to" ]; then
      echo "$to is a file; it is left as it is"; continue
    fi
    ln -sfn "$from" "$to" || return 1
    echo "$to -> $from"
  done <<< "$asset_links"
}

run_command() {
  cd "$HOME/$folder" || return 1
  . "$state/env"
  case $1 in
    *[\;\&\|$'\n']*) bash -c "$1" ;;
    'pip install '* | 'python -m pip install '* | 'python3 -m pip install '* | 'uv pip install '*) gpu_lol_overcome bash -c "$1" ;;
    *) bash -c "$1" ;;
  esac
}

# A snapshot that lacks this says so: no set-up fails for want of it.
take_inventory() {
  local gpu_lol_image=''
  [ ! -f "$state/env" ] || gpu_lol_image=$(. "$state/env"; printf %s "${GPU_LOL_IMAGE:-}")
  gpu_lol_inventory > "$state/inventory.part" 2> /dev/null
  mv -f "$state/inventory.part" "$state/inventory.$1" || true
}

mkdir -p "$state" || exit 1
gpu_lol_python
if [ "$mode" = setup ]; then
  : > "$log"
  printf '%s\n' "$python" > "$state/inventory.python"
  [ -f "$state/inventory.image" ] || take_inventory image
  step environment write_environment
  [ -z "$system_packages" ] || step system_packages install_system_packages
  [ -z "$asset_links" ] || step asset_links link_assets
fi
[ -z "$requirements$last_requirements" ] || step requirements install_requirements
number=0
while IFS= read -r encoded; do
  [ -n "$encoded" ] || continue
  number=$((number + 1))
  step "command_$number" run_command "$(printf %s "$encoded" | base64 -d)"
done <<< "$setup_commands"
take_inventory setup
say "done"
