#!/bin/bash
# Starts a real OpenPBS for tests: pbs_comm, pbs_server, pbs_sched and pbs_mom with a
# home of their own, without systemd.
#
#     testdata/clusters/openpbs-host.sh bash
#     eval "$(testdata/clusters/openpbs-up.sh)"
#
# Needs root, an installed OpenPBS with pbs_server on the PATH, and PostgreSQL. It starts
# on the host of openpbs-host.sh only, and ends with that. Prints the variables that
# OpenPBS's commands need, and says everything else on standard error. Daemons that
# run already are kept, so it may be called again after qterm.
#
#     RMCTL_OPENPBS_DIR       where everything is kept            (/mnt/openpbs)
#     RMCTL_OPENPBS_PORT      the server's port; other daemons have the next five (15001)
#     RMCTL_OPENPBS_HISTORY   whether the server knows jobs that ended: True or False (True)
#     RMCTL_OPENPBS_DATABASE  user whom PostgreSQL runs as        (postgres)
set -eu

state=${RMCTL_OPENPBS_DIR:-/mnt/openpbs}
port=${RMCTL_OPENPBS_PORT:-15001}
history=${RMCTL_OPENPBS_HISTORY:-True}
database_user=${RMCTL_OPENPBS_DATABASE:-postgres}
home=$state/home
patience=180 # seconds for a daemon to answer

fail() {
    echo "openpbs-up: $*" >&2
    tail -n 20 "$home"/*_logs/* >&2 || true
    exit 1
}

# running PIDFILE PROGRAM: is the process of that file alive, and that program?
running() {
    local id program
    [ -e "$1" ] && id=$(tr -cd 0-9 <"$1") && program=$(readlink "/proc/$id/exe") && [ "${program##*/}" = "$2" ]
}

await() { # WHAT COMMAND...: repeats the command until it succeeds
    local what=$1 end=$((SECONDS + patience))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || fail "$what does not answer"
        sleep 0.2
    done
}

make_home() {
    local rights path
    while read -r rights path; do
        install -d -m "$rights" "$home/$path"
    done <<'DIRECTORIES'
1777 spool
1777 undelivered
755 aux
700 checkpoint
755 comm_logs
755 mom_logs
755 sched_logs
755 server_logs
751 mom_priv
751 mom_priv/jobs
750 mom_priv/hooks
750 mom_priv/hooks/tmp
750 sched_priv
750 server_priv
755 server_priv/accounting
750 server_priv/jobs
750 server_priv/users
750 server_priv/hooks
750 server_priv/hooks/tmp
DIRECTORIES
    cat >"$PBS_CONF_FILE" <<CONF
PBS_EXEC=$programs
PBS_HOME=$home
PBS_SERVER=$host
PBS_START_SERVER=1
PBS_START_SCHED=1
PBS_START_COMM=1
PBS_START_MOM=1
PBS_BATCH_SERVICE_PORT=$port
PBS_BATCH_SERVICE_PORT_DIS=$((port + 1))
PBS_MOM_SERVICE_PORT=$((port + 2))
PBS_MANAGER_SERVICE_PORT=$((port + 3))
PBS_DATA_SERVICE_PORT=$((port + 4))
PBS_LEAF_ROUTERS=$host:$((port + 5))
PBS_COMM_NAME=$host:$((port + 5))
CONF
    printf 'PATH=/bin:/usr/bin\nTZ=UTC\n' >"$home/pbs_environment"
    printf '%s' "$database_user" >"$home/server_priv/db_user"
    # the second says how often the times of jobs are checked, in seconds
    printf '$clienthost %s\n$min_check_poll 1\n$max_check_poll 2\n' "$host" >"$home/mom_priv/config"
    chmod 644 "$home/mom_priv/config" # others are refused
    for file in sched_config holidays resource_group; do
        cp "$programs/etc/pbs_$file" "$home/sched_priv/$file"
    done
    cp "$programs/etc/pbs_dedicated" "$home/sched_priv/dedicated_time"
}

make_database() {
    PBS_EXEC=$programs PBS_HOME=$home PBS_DATA_SERVICE_USER=$database_user PBS_DATA_SERVICE_PORT=$((port + 4)) \
        bash -c '. "$PBS_EXEC/libexec/pbs_db_env" && "$PBS_EXEC/libexec/pbs_db_utility" install_db' >&2 || fail "the database cannot be made"
}

start() { # PIDFILE PROGRAM COMMAND...
    local file=$home/$1 program=$2
    shift 2
    running "$file" "$program" || "$@" >&2 || fail "$program does not start"
}

configure() {
    qmgr >&2 <<CONF || fail "the server cannot be configured"
create queue workq queue_type=execution, enabled=True, started=True
create queue short queue_type=execution, enabled=True, started=True, resources_max.walltime=00:30:00
create queue closed queue_type=execution, enabled=True, started=False
create queue off queue_type=execution, enabled=False, started=True
set server default_queue = workq
set server acl_roots = root@$host
set server job_history_enable = $history
set server scheduling = True
create node $host
set node $host resources_available.ncpus = 64
CONF
}

node_is_free() { pbsnodes "$host" | grep -q '^ *state = free$'; }

programs=$("$(dirname "$0")/openpbs-find.sh")
host=${RMCTL_OPENPBS_HOST:?openpbs-host.sh must run this}
PATH=$programs/bin:$programs/sbin:$PATH
PBS_CONF_FILE=$state/pbs.conf
export PATH PBS_CONF_FILE
create=
if [ ! -e "$state/configured" ]; then
    make_home
    make_database
    create="-t create"
fi
start server_priv/comm.lock pbs_comm pbs_comm
# shellcheck disable=SC2086 # an option, or none
start server_priv/server.lock pbs_server.bin pbs_server $create
await pbs_server qstat -B
start sched_priv/sched.lock pbs_sched pbs_sched
start mom_priv/mom.lock pbs_mom pbs_mom
[ -z "$create" ] || configure
touch "$state/configured"
await pbs_mom node_is_free
for variable in PATH PBS_CONF_FILE; do
    echo "export $variable=${!variable}"
done
