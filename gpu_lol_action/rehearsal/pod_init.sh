#!/usr/bin/env bash
# First process of a pod, started in new mount, PID, network, UTS and IPC namespaces.
#   pod_init.sh READY GO IMAGE POD_FOLDER POD_ID ADDRESS GATEWAY MTU COMMAND...
# READY, GO: descriptors. We write to the one when the namespaces exist; "go" comes over the other when eth0 is in here.
# POD_FOLDER has: upper (files over the image), environment (a shell file). We write POD_FOLDER/storage: how we mounted.
set -euo pipefail
ready=$1 go_ahead=$2 image=$3 pod=$4 id=$5 address=$6 gateway=$7 mtu=$8; shift 8
echo ready >&"$ready"; exec {ready}>&-
read -r go <&"$go_ahead"; exec {go_ahead}<&-
[ "$go" = go ]

ip link set lo up
ip addr add "$address/24" dev eth0
ip link set eth0 mtu "$mtu" up
ip route add default via "$gateway"

# In a chroot "/" is no mount point and cannot be made private; our own folder can.
mount --make-rprivate / 2>/dev/null || { mount --bind "$pod" "$pod"; mount --make-private "$pod"; }

# An overlay over the shared image; its upper layer in memory where the file system refuses (overlay on overlay);
# a full copy where the kernel has no overlay for us at all.
root=$pod/root
mkdir -p "$root" "$pod/work"
overlay() { mount -t overlay overlay -o "lowerdir=$image,upperdir=$1,workdir=$2" "$root" 2>>"$pod/mount.log"; }
if overlay "$pod/upper" "$pod/work"; then
  echo overlay > "$pod/storage"
else
  mkdir -p "$pod/memory"
  mount -t tmpfs -o size=4g,mode=755 tmpfs "$pod/memory"
  mkdir "$pod/memory/work"; cp -a "$pod/upper" "$pod/memory/upper"
  if overlay "$pod/memory/upper" "$pod/memory/work"; then
    echo overlay-in-memory > "$pod/storage"
  else
    umount "$pod/memory"
    cp -a --reflink=auto "$image/." "$root/"; cp -a "$pod/upper/." "$root/"
    mount --bind "$root" "$root"
    echo copy > "$pod/storage"
  fi
fi

mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys" 2>/dev/null || true
mount -t tmpfs -o mode=755,size=1m tmpfs "$root/dev"
for device in null zero full random urandom tty; do
  : > "$root/dev/$device"; mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"; ln -s /proc/self/fd "$root/dev/fd"
ln -s fd/0 "$root/dev/stdin"; ln -s fd/1 "$root/dev/stdout"; ln -s fd/2 "$root/dev/stderr"
mount -t tmpfs -o size=4g,mode=1777 shm "$root/dev/shm"
mount -t tmpfs -o mode=755,size=64m run "$root/run"; mkdir -p "$root/run/lock"
hostname "$id"
set -a
# shellcheck disable=SC1091  # written for each pod
. "$pod/environment"
set +a

# Docker's default capability set, less nothing that sshd and apt need.
keep=chown,dac_override,fowner,fsetid,kill,setgid,setuid,setpcap,net_bind_service,net_raw,sys_chroot,mknod,audit_write,setfcap
drop=$(printf -- '-all'; for c in ${keep//,/ }; do printf ',+%s' "$c"; done)
cd "$root"
mkdir -p .host
if pivot_root . .host 2>/dev/null; then
  umount -l /.host; rmdir /.host; cd /
  exec setpriv --bounding-set "$drop" --inh-caps "$drop" "$@"
fi
# pivot_root needs "/" to be a mount point, which it is not in a chroot.
rmdir .host
exec chroot . setpriv --bounding-set "$drop" --inh-caps "$drop" "$@"
