#!/bin/bash
# Runs a command on a host of its own within this machine, for OpenPBS: it is called
# pbs01, has an address that nobody else reaches, an empty /mnt, and no processes and
# files in /mnt that outlive the command.
#
#     testdata/clusters/openpbs-host.sh COMMAND [ARGUMENT...]
#
# OpenPBS starts on no host whose name stands for a loopback address, as the names of many
# machines that run tests do, and not below /tmp. Needs root, unshare of util-linux, and ip
# of iproute2.
set -eu

if [ -z "${RMCTL_OPENPBS_HOST:-}" ]; then
    RMCTL_OPENPBS_HOST=pbs01 exec unshare --mount --uts --net --pid --fork --kill-child --mount-proc "$0" "$@"
fi
address=192.0.2.1 # of a network for documentation
hostname "$RMCTL_OPENPBS_HOST"
ip link set lo up
ip address add $address/32 dev lo
mount -t tmpfs -o mode=755 tmpfs /mnt
printf '127.0.0.1 localhost\n%s %s\n' $address "$RMCTL_OPENPBS_HOST" >/mnt/hosts
mount --bind /mnt/hosts /etc/hosts
[ ! -d /run/postgresql ] || mount -t tmpfs -o mode=1777 tmpfs /run/postgresql # sockets of other databases
# not exec: this shell waits for what daemons leave behind
"$@"
