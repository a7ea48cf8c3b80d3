#!/bin/sh
# debian-root.sh - unpacks a minimal Debian into RMCTL_DEBIAN_ROOT, with /proc mounted; with
# RMCTL_DEBIAN_REMOVE=1 it removes that. Needs root. /var/cache/rmctl-test keeps the Debian
# for a week.
set -eu

directory=$RMCTL_DEBIAN_ROOT
if [ "${RMCTL_DEBIAN_REMOVE:-0}" = 1 ]; then
    if grep -qs " $directory/proc " /proc/mounts; then umount "$directory/proc"; fi
    rm -rf --one-file-system "$directory"
    exit
fi

cache=${RMCTL_DEBIAN_CACHE:-/var/cache/rmctl-test}
mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
suite=$(sed -n "s/^VERSION_CODENAME=//p" /etc/os-release)
tarball=$cache/debian-$suite.tar
if [ -z "$(find "$tarball" -mtime -7 2>/dev/null)" ]; then
    mmdebstrap --quiet --format=tar --variant=minbase "$suite" "$tarball.new" >&2
    mv "$tarball.new" "$tarball"
fi
flock -u 9
mkdir -p "$directory"
tar -C "$directory" --exclude='./dev/*' -xpf "$tarball"
[ -e "$directory/dev/null" ] || mknod -m 666 "$directory/dev/null" c 1 3
mount -t proc proc "$directory/proc"
