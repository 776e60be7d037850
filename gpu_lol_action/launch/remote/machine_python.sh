# shellcheck shell=bash disable=SC2154,SC2163  # values stand in front of this script (older_python); ~ in messages is for people
# Defines gpu_lol_python: takes over what the image put into its environment, and sets python to the interpreter that
# programs will use. image_variables then holds these variables as shell lines.

# gpu_lol_run [ARGUMENT...]: runs the program on standard input, which finds what is installed by `metadata`, also in Python 3.7.
gpu_lol_run() { { printf '%s\n' "$older_python"; cat; } | "$python" - "$@"; }

gpu_lol_quote() { local tick=\'; printf "'%s'" "${1//$tick/$tick\\$tick$tick}"; }

# An SSH session lacks the image's variables (PATH of conda, NGC's LD_LIBRARY_PATH and PIP_CONSTRAINT); the first process
# still has them. Only what programs need to be found and to run, and nothing that may be a credential.
gpu_lol_environment() {
  local entry name image_path='' folder
  image_variables=''
  while IFS= read -r -d '' entry; do
    name=${entry%%=*}
    case $name in *TOKEN* | *KEY* | *SECRET* | *PASSW* | *CREDENTIAL*) continue ;; esac
    case $name in
      PATH) image_path=${entry#*=} ;;
      LD_LIBRARY_PATH | LIBRARY_PATH | CPATH | VIRTUAL_ENV | CONDA_* | CUDA_* | CUDNN_* | NVIDIA_* | NCCL_* | TORCH_* | HF_* | \
        PIP_* | UV_* | *_proxy | *_PROXY | SSL_CERT_FILE | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE)
        [ -z "${!name+x}" ] || continue
        export "$entry"
        image_variables+="export $name=$(gpu_lol_quote "${entry#*=}")"$'\n' ;;
    esac
  done < <(cat /proc/1/environ 2> /dev/null)
  for folder in ${VIRTUAL_ENV:+"$VIRTUAL_ENV/bin"} /opt/conda/bin /opt/venv/bin /venv/main/bin /workspace/venv/bin "$HOME/miniconda3/bin"; do
    if [ -x "$folder/python" ] || [ -x "$folder/python3" ]; then image_path="$folder:$image_path"; fi
  done
  PATH="${image_path:+$image_path:}$PATH:/usr/local/cuda/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
  export PATH
}

# The first interpreter that has torch, else the first; SkyPilot's own runtime is not the user's.
gpu_lol_python() {
  local candidate found=''
  gpu_lol_environment
  python=''
  while IFS= read -r candidate; do
    case $candidate in "$HOME"/skypilot-runtime/*) continue ;; esac
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 7))' < /dev/null 2> /dev/null || continue
    [ -n "$found" ] || found=$candidate
    if (cd / && "$candidate" -c 'import sys, importlib.util as u; sys.exit(u.find_spec("torch") is None)' < /dev/null 2> /dev/null); then
      python=$candidate
      break
    fi
  done < <(type -aP python python3 python3.13 python3.12 python3.11 python3.10 python3.9 python3.8 python3.7 2> /dev/null)
  [ -n "$python" ] || python=$found
}
