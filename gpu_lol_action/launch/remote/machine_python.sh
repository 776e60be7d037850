# Defines gpu_lol_python: sets PATH as the image means it, and python to the interpreter that programs will use.

# An SSH session lacks what the image put into PATH (conda, virtual environments); the first process still has it.
gpu_lol_path() {
  local image_path folder
  image_path=$(tr '\0' '\n' < /proc/1/environ 2> /dev/null | sed -n 's/^PATH=//p' | head -n 1)
  for folder in ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin"} /opt/conda/bin /opt/venv/bin /venv/main/bin /workspace/venv/bin "$HOME/miniconda3/bin"; do
    if [ -x "$folder/python" ] || [ -x "$folder/python3" ]; then image_path="$folder:$image_path"; fi
  done
  PATH="${image_path:+$image_path:}$PATH:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  export PATH
}

# The first interpreter that has torch, else the first; SkyPilot's own runtime is not the user's. `-P`-less on purpose: old Pythons.
gpu_lol_python() {
  local candidate found=''
  gpu_lol_path
  python=''
  while IFS= read -r candidate; do
    case $candidate in "$HOME"/skypilot-runtime/*) continue ;; esac
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 8))' < /dev/null 2> /dev/null || continue
    [ -n "$found" ] || found=$candidate
    if (cd / && "$candidate" -c 'import sys, importlib.util as u; sys.exit(u.find_spec("torch") is None)' < /dev/null 2> /dev/null); then
      python=$candidate
      break
    fi
  done < <(type -aP python python3 python3.13 python3.12 python3.11 python3.10 python3.9 python3.8 2> /dev/null)
  [ -n "$python" ] || python=$found
}
