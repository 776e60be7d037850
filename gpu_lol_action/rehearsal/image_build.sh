#!/usr/bin/env bash
# Build the machine image of the loopback cloud: a root file system in a folder.
#   image_build.sh ROOT SUITE COMPONENTS REQUIREMENTS [MIRROR]
# Needs root, mmdebstrap, and the host's package configuration (apt, pip, CA bundle), which is used and then taken
# out again: pods get the host's configuration of their own day (pod_files.py).
set -euo pipefail
root=$1 suite=$2 components=$3 requirements=$4; shift 4

# The host's apt settings that decide whether a mirror can be reached at all.
apt_options=()
while IFS= read -r option; do
  [ -z "$option" ] || apt_options+=(--aptopt="$option")
done < <(apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries|ForceIPv)' | grep -v '::Pipeline-Depth' || true)

mmdebstrap --quiet --mode=root --variant=minbase --format=directory --components="$components" "${apt_options[@]}" \
  --include=openssh-server,openssh-client,rsync,curl,patch,python3,python3-pip,python3-venv,procps,sudo,iproute2,ca-certificates,lsof,less,git,netcat-openbsd,psmisc \
  "$suite" "$root" "$@"

# What an ML image does too: its root user may `pip install` (PEP 668 marks the distribution's Python otherwise).
rm -f "$root"/usr/lib/python3*/EXTERNALLY-MANAGED "$root"/etc/ssh/ssh_host_*

# ~/skypilot-runtime as SkyPilot would make it on first contact. SkyPilot skips its own steps where the folder exists.
cp "$root/etc/ssl/certs/ca-certificates.crt" "$root/root/ca-own.crt"
cat /etc/ssl/certs/ca-certificates.crt > "$root/etc/ssl/certs/ca-certificates.crt"
cat /etc/resolv.conf > "$root/root/resolv.conf"; rm -f "$root/etc/resolv.conf"; mv "$root/root/resolv.conf" "$root/etc/resolv.conf"
[ ! -f "$root/../pip.conf" ] || cp "$root/../pip.conf" "$root/etc/pip.conf"
cp "$requirements" "$root/root/requirements.txt"
# uv comes first and alone: it installs the other two hundred in a fraction of pip's time.
awk '/^[a-z]/ {keep = ($0 ~ /^uv==/)} keep' "$requirements" > "$root/root/uv.txt"
# shellcheck disable=SC2016  # the inner shell, in the new root, expands these
chroot "$root" /usr/bin/env HOME=/root PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin \
  SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt UV_LINK_MODE=copy PIP_ROOT_USER_ACTION=ignore bash -euc '
  mkdir -p ~/.local/bin
  python3 -m venv /root/uv-venv
  /root/uv-venv/bin/pip install --quiet --no-cache-dir --disable-pip-version-check --require-hashes -r /root/uv.txt
  mv /root/uv-venv/bin/uv ~/.local/bin/uv
  uv=~/.local/bin/uv
  "$uv" venv -q --python /usr/bin/python3 ~/skypilot-runtime
  VIRTUAL_ENV=~/skypilot-runtime "$uv" pip install -q --no-cache --require-hashes -r /root/requirements.txt
  # Every pod begins without a memory: what is not compiled here, each would compile anew when its first command comes.
  env -u PYTHONDONTWRITEBYTECODE ~/skypilot-runtime/bin/python -m compileall -q -j 2 \
    -x "/(tests|rllib|tune|train|serve|networkx|pip|node_modules)/" ~/skypilot-runtime/lib
  rm -rf /root/uv-venv /root/.cache /root/uv.txt /root/requirements.txt'
mv "$root/root/ca-own.crt" "$root/etc/ssl/certs/ca-certificates.crt"
rm -f "$root/etc/pip.conf"
