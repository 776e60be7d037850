# shellcheck shell=bash
# Defines as_root and gpu_lol_apt: packages of the system.

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

# gpu_lol_apt PACKAGE...: a list that cannot be refreshed is no reason to stop, for what is asked for may stand in the others.
# Images of CUDA from before May 2022 have NVIDIA's list with a key that was revoked then, and apt fails for that one. The
# installation decides, and names what it could not get.
gpu_lol_apt() {
  command -v apt-get > /dev/null || { echo 'apt-get is not in this image'; return 1; }
  as_root apt-get update || echo 'Not every list of packages could be refreshed: on with those that could.'
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}
