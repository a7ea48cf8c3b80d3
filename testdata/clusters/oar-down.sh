#!/bin/bash
# Stops what oar-up.sh started, and only that: each process by its own pid file,
# after a look at what program it is, with its session and the jobs below it.
# Puts the configuration file of the package back.
#
#     RMCTL_OAR_DIR     as for oar-up.sh    (/tmp/rmctl-test-oar)
#     RMCTL_OAR_ONLY    stop one daemon: almighty or postgres
#     RMCTL_OAR_REMOVE  1 removes the directory as well
set -eu

state=${RMCTL_OAR_DIR:-/tmp/rmctl-test-oar}
only=${RMCTL_OAR_ONLY:-}
configuration=/etc/oar/oar.conf

# process PIDFILE PROGRAM: the id in the file, if it is that of the program
process() {
    local id
    id=$(head -n 1 "$1" 2>/dev/null || true)
    if [ -n "$id" ] && tr '\0' ' ' <"/proc/$id/cmdline" 2>/dev/null | grep -q "$2"; then echo "$id"; fi
}

# gone ID...: waits until they have ended, for ten seconds at most
gone() {
    local id tries=100
    for id in "$@"; do
        while readlink "/proc/$id/exe" >/dev/null && [ $tries -gt 0 ]; do
            tries=$((tries - 1))
            sleep 0.1
        done
    done
}

stop_almighty() {
    local id session
    id=$(process "$state/run/almighty" Almighty)
    [ -n "$id" ] || return 0
    session=$(ps -o pid= -s "$id")
    # its helpers heed no polite signal
    # shellcheck disable=SC2086 # a list of ids
    kill -KILL $session $(ps -o pid= -s "$id") 2>/dev/null || true
    # shellcheck disable=SC2086
    gone $session
    rm -f "$state/run/almighty"
}

# The processes of a job have OAR's runtime directory in their environment.
stop_jobs() {
    local file
    for file in $(grep -slzE "^OAR_(NODE_FILE|NODEFILE|FILE_NODES)=$state/runtime/" /proc/[0-9]*/environ || true); do
        file=${file#/proc/}
        kill -KILL "${file%/environ}" 2>/dev/null || true
    done
}

stop_sshd() {
    local id below all=""
    id=$(process "$state/run/sshd" sshd)
    [ -n "$id" ] || return 0
    below=$id
    while [ -n "$below" ]; do
        below=$(ps -o pid= --ppid "$(echo $below | tr ' ' ,)" || true)
        all="$all $below"
    done
    # shellcheck disable=SC2086 # a list of ids
    kill -KILL $id $all 2>/dev/null || true
    # shellcheck disable=SC2086
    gone $id $all
    rm -f "$state/run/sshd"
}

stop_database() {
    local id
    id=$(process "$state/database/postmaster.pid" postgres)
    [ -n "$id" ] || return 0
    kill -INT "$id" 2>/dev/null || true # ends its sessions
    gone "$id"
}

[ -e "$state/oar.conf" ] || exit 0
[ "$(id -u)" -eq 0 ] || {
    echo "oar-down: only root can stop OAR" >&2
    exit 1
}
case $only in "" | almighty) stop_almighty ;; esac
case $only in "" | postgres) stop_database ;; esac
[ -z "$only" ] || exit 0
stop_sshd
stop_jobs
if [ "$(readlink "$configuration")" = "$state/oar.conf" ]; then
    rm -f "$configuration"
    [ ! -e "$configuration.package" ] || mv "$configuration.package" "$configuration"
fi
if [ "${RMCTL_OAR_REMOVE:-}" = 1 ]; then
    rm -rf -- "$state"
fi
