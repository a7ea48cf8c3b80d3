#!/bin/bash
# Stops what gridengine-up.sh started, and only that: each process by its own pid
# file, after a look at what program it is.
#
#     RMCTL_GRIDENGINE_DIR      as for gridengine-up.sh    (/tmp/rmctl-test-gridengine)
#     RMCTL_GRIDENGINE_ONLY     stop one daemon: sge_qmaster or sge_execd
#     RMCTL_GRIDENGINE_REMOVE   1 removes the directory as well
set -eu

state=${RMCTL_GRIDENGINE_DIR:-/tmp/rmctl-test-gridengine}
only=${RMCTL_GRIDENGINE_ONLY:-}

note() { echo "gridengine-down: $*" >&2; }

# stop PIDFILE PROGRAM: a polite signal first, and ten seconds later another
stop() {
    local id program tries=50
    id=$(cat "$1" 2>/dev/null || true)
    [ -n "$id" ] || return 0
    program=$(readlink "/proc/$id/exe" || true)
    if [ "${program##*/}" = "$2" ]; then
        kill "$id" 2>/dev/null || true
        # a process that has ended has no program, even if nobody has waited for it
        while readlink "/proc/$id/exe" >/dev/null; do
            if [ $tries -eq 0 ]; then
                note "$2 does not end, killing it"
                kill -KILL "$id" 2>/dev/null || true
                break
            fi
            tries=$((tries - 1))
            sleep 0.2
        done
    fi
    rm -f "$1"
}

# Jobs of a cluster that goes away would stay behind without a daemon.
delete_jobs() {
    local tries=25
    SGE_ROOT=$state/root SGE_CELL=default SGE_QMASTER_PORT=$(cat "$state/port")
    export SGE_ROOT SGE_CELL SGE_QMASTER_PORT
    timeout 5 qconf -sh >/dev/null 2>&1 || return 0
    timeout 20 qdel -f -u '*' >/dev/null 2>&1 || true
    while [ $tries -gt 0 ] && [ -n "$(timeout 5 qstat -u '*' 2>/dev/null)" ]; do
        tries=$((tries - 1))
        sleep 0.2
    done
}

# remove_folder: what a job's last processes still write there is in the way for a moment
remove_folder() {
    local tries=300
    until rm -rf -- "$state" 2>/dev/null; do
        if [ $tries -eq 0 ]; then
            rm -rf -- "$state" # which says what is in the way
        fi
        tries=$((tries - 1))
        sleep 0.2
    done
}

[ -s "$state/port" ] || exit 0
[ "$(id -u)" -eq 0 ] || {
    note "only root can stop Grid Engine's daemons"
    exit 1
}
[ -n "$only" ] || delete_jobs
case $only in "" | sge_execd) for file in "$state"/spool/execd/*/execd.pid; do stop "$file" sge_execd; done ;; esac
case $only in "" | sge_qmaster) stop "$state/spool/qmaster/qmaster.pid" sge_qmaster ;; esac
if [ "${RMCTL_GRIDENGINE_REMOVE:-}" = 1 ]; then
    remove_folder
fi
