#!/bin/bash
# Stops what sshd-up.sh started, and only that: each process by its own pid
# file, after a look at what program it is, and the sessions that it let in.
#
#     RMCTL_SSHD_DIR     as for sshd-up.sh              (/tmp/rmctl-test-sshd)
#     RMCTL_SSHD_REMOVE  1 removes the directory as well
#
# The users stay: they may have files.
set -eu

state=${RMCTL_SSHD_DIR:-/tmp/rmctl-test-sshd}

# stop PIDFILE: the daemon, then those of its children that serve a connection
stop() {
    local id program children child
    id=$(cat "$1" 2>/dev/null || true)
    [ -n "$id" ] || return 0
    program=$(readlink "/proc/$id/exe" || true)
    if [ "${program##*/}" = sshd ]; then
        children=$(cat "/proc/$id/task/$id/children")
        kill "$id" 2>/dev/null || true
        for child in $children; do kill "$child" 2>/dev/null || true; done
        while readlink "/proc/$id/exe" >/dev/null; do sleep 0.05; done
    fi
    rm -f "$1"
}

[ -d "$state" ] || exit 0
[ "$(id -u)" -eq 0 ] || {
    echo "sshd-down: only root can stop sshd" >&2
    exit 1
}
for daemon in target jump; do stop "$state/$daemon.pid"; done
if [ "${RMCTL_SSHD_REMOVE:-}" = 1 ] && head -n 1 "$state/target.conf" 2>/dev/null | grep -q 'testdata/clusters/sshd-up.sh'; then
    rm -rf -- "$state"
fi
