#!/bin/bash
# Stops what slurm-up.sh started, and only that: each process by its own pid
# file, after a look at what program it is.
#
#     RMCTL_SLURM_DIR      as for slurm-up.sh              (/tmp/rmctl-test-slurm)
#     RMCTL_SLURM_ONLY     stop one daemon: slurmctld, node1, node2, munged,
#                          slurmdbd, mariadbd or slurmrestd
#     RMCTL_SLURM_REMOVE   1 removes the directory as well
set -eu

state=${RMCTL_SLURM_DIR:-/tmp/rmctl-test-slurm}
only=${RMCTL_SLURM_ONLY:-}

note() { echo "slurm-down: $*" >&2; }

# stop PIDFILE PROGRAM: a polite signal first, and a minute later another: slurmctld that is
# killed while it saves its state loses jobs
stop() {
    local id program tries=300
    id=$(cat "$1" 2>/dev/null || true)
    [ -n "$id" ] || return 0
    program=$(readlink "/proc/$id/exe" || true)
    program=${program##*/}
    if [ "${program%-wlm}" = "$2" ]; then # Debian's files have that suffix
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
cancel_jobs() {
    export SLURM_CONF=$state/slurm.conf
    timeout 5 scontrol ping 2>/dev/null | grep -q ' is UP' || return 0
    squeue --noheader --format=%A | sort -u | xargs -r timeout 20 scancel --quiet 2>/dev/null || true
    local tries=25
    while [ $tries -gt 0 ] && [ -n "$(squeue --noheader --states=running,completing,suspended --format=%A)" ]; do
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

[ -f "$state/slurm.conf" ] || exit 0
[ "$(id -u)" -eq 0 ] || {
    note "only root can stop Slurm's daemons"
    exit 1
}
[ -n "$only" ] || cancel_jobs
case $only in "" | slurmrestd) stop "$state/pid/slurmrestd" slurmrestd ;; esac
for node in node1 node2; do
    case $only in "" | "$node") stop "$state/pid/$node" slurmd ;; esac
done
case $only in "" | slurmctld) stop "$state/pid/slurmctld" slurmctld ;; esac
case $only in "" | slurmdbd) stop "$state/pid/slurmdbd" slurmdbd ;; esac
case $only in "" | mariadbd) stop "$state/database/pid" mariadbd ;; esac
case $only in "" | munged) stop "$state/munge/pid" munged ;; esac
if [ "${RMCTL_SLURM_REMOVE:-}" = 1 ] && head -n 1 "$state/slurm.conf" | grep -q 'testdata/clusters/slurm-up.sh'; then
    remove_folder
fi
