#!/bin/bash
# Starts a real Slurm for tests on this one machine: slurmctld, two slurmd and
# a munged of its own, all on the loopback interface, without systemd.
#
#     eval "$(testdata/clusters/slurm-up.sh)"
#
# Needs root on Debian; missing packages are installed. Prints the one variable
# that Slurm's commands need, SLURM_CONF, and says everything else on standard
# error. Daemons that run already are kept, so it may be called again.
#
#     RMCTL_SLURM_DIR         where everything is kept      (/tmp/rmctl-test-slurm)
#     RMCTL_SLURM_PORT        first of the ports in use     (27817)
#     RMCTL_SLURM_MINJOBAGE   seconds until the controller
#                             forgets a job that ended      (300; below 2 it never does)
#     RMCTL_SLURM_USER        user who submits jobs         (rmtest; created if missing)
#     RMCTL_SLURM_ACCOUNTING  yes: a slurmdbd of its own, with a MariaDB on a socket
#                             that only the user slurm can reach  (no)
#     RMCTL_SLURM_REST        yes: a slurmrestd, which knows its callers by tokens; rest/access
#                             in the directory is a configuration of curl with one  (no)
set -eu

state=${RMCTL_SLURM_DIR:-/tmp/rmctl-test-slurm}
port=${RMCTL_SLURM_PORT:-27817}
min_job_age=${RMCTL_SLURM_MINJOBAGE:-300}
job_user=${RMCTL_SLURM_USER:-rmtest}
accounting=${RMCTL_SLURM_ACCOUNTING:-no}
rest=${RMCTL_SLURM_REST:-no}
nodes="node1 node2"
database=$state/database
patience=180 # seconds for a daemon to answer

note() { echo "slurm-up: $*" >&2; }
fail() {
    note "$*"
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "only root can start Slurm's daemons"

# The packages would start daemons of their own; a policy that forbids it is
# put in place for as long as the installation takes.
install_missing() {
    local wanted packages="munge slurmctld slurmd slurm-client" missing="" policy=/usr/sbin/policy-rc.d own_policy=no result=0
    [ "$accounting" = no ] || packages="$packages slurmdbd mariadb-server-core"
    [ "$rest" = no ] || packages="$packages slurmrestd slurm-wlm-jwt-plugin curl"
    for wanted in $packages; do
        dpkg -s "$wanted" 2>/dev/null | grep -q '^Status: install ok installed' || missing="$missing $wanted"
    done
    [ -n "$missing" ] || return 0
    note "installing$missing"
    if [ ! -e $policy ]; then
        own_policy=yes
        install -m 755 /dev/stdin $policy <<<$'#!/bin/sh\nexit 101'
    fi
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # a list of names
    {
        apt-get -q -o DPkg::Lock::Timeout=300 update &&
            apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $missing
    } >&2 || result=$?
    if [ $own_policy = yes ]; then rm -f $policy; fi
    [ $result -eq 0 ] || fail "apt-get could not install$missing"
}

# running PIDFILE PROGRAM: is the process of that file alive, and that program?
# Debian's files have a suffix: slurmctld-wlm.
running() {
    local id program
    id=$(cat "$1" 2>/dev/null) || return 1
    [ -n "$id" ] || return 1
    program=$(readlink "/proc/$id/exe") || return 1
    program=${program##*/}
    [ "${program%-wlm}" = "$2" ]
}

# await WHAT COMMAND...: repeats the command until it succeeds
await() {
    local what=$1 end=$((SECONDS + patience))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || fail "$what does not answer; its log is below $state/log"
        sleep 0.2
    done
}

# Scripts that run at the same time must not make the same user, or find /etc/passwd locked.
make_user() {
    exec 9>/run/rmctl-test-users.lock
    flock 9
    id "$job_user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$job_user"
    exec 9>&-
}

make_directories() {
    make_user
    install -d -m 755 "$state" "$state/pid"
    install -d -m 755 -o slurm -g slurm "$state/controller" "$state/log"
    install -d -m 755 -o munge -g munge "$state/munge"
    for node in $nodes; do install -d -m 755 "$state/spool/$node"; done
    [ "$accounting" = no ] || install -d -m 700 -o slurm -g slurm "$database" "$database/data" "$database/temporary"
}

write_configuration() {
    local host storage=AccountingStorageType=accounting_storage/none tokens=
    [ "$rest" = no ] || tokens="AuthAltTypes=auth/jwt
AuthAltParameters=jwt_key=$state/controller/token-key"
    host=$(hostname -s)
    [ "$accounting" = no ] || storage="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$((port + 3))
AccountingStoragePass=$state/munge/socket"
    cat >"$state/slurm.conf.new" <<CONF
# made by testdata/clusters/slurm-up.sh
ClusterName=rmctltest
SlurmUser=slurm
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SrunPortRange=$((port + 10))-$((port + 110))
# only the addresses of this file are listened on
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$state/munge/socket
$tokens
StateSaveLocation=$state/controller
SlurmdSpoolDir=$state/spool/%n
SlurmctldPidFile=$state/pid/slurmctld
SlurmdPidFile=$state/pid/%n
SlurmctldLogFile=$state/log/slurmctld
SlurmdLogFile=$state/log/%n
# nothing that a container may lack: no cgroups, no binding
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
$storage
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
# the CPUs of this file, not those of the machine
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
# react within a second or two, as tests wait for it
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
PriorityType=priority/basic
KillWait=2
SlurmctldTimeout=30
# a node that a busy machine keeps from answering is not taken for one that failed
SlurmdTimeout=120
ReturnToService=2
MinJobAge=$min_job_age
MaxArraySize=1001
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=16 RealMemory=4000 State=UNKNOWN
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=16 RealMemory=4000 State=UNKNOWN
PartitionName=normal Default=YES Nodes=node1,node2 MaxTime=60 DefaultTime=10 State=UP
PartitionName=closed Nodes=node2 MaxTime=60 State=DOWN
CONF
    mv "$state/slurm.conf.new" "$state/slurm.conf"
    [ "$accounting" = no ] || install -m 600 -o slurm -g slurm /dev/stdin "$state/slurmdbd.conf" <<CONF
# made by testdata/clusters/slurm-up.sh
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$((port + 3))
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket=$state/munge/socket
$tokens
CommunicationParameters=NoInAddrAny
PidFile=$state/pid/slurmdbd
LogFile=$state/log/slurmdbd
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StorageLoc=accounting
CONF
}

start_munged() {
    local munge=$state/munge
    if [ ! -s "$munge/key" ]; then
        install -m 600 -o munge -g munge /dev/null "$munge/key"
        head -c 256 /dev/urandom >"$munge/key"
    fi
    if ! running "$munge/pid" munged; then
        rm -f "$munge/socket" "$munge/socket.lock" "$munge/pid"
        setpriv --reuid=munge --regid=munge --clear-groups \
            munged --key-file="$munge/key" --socket="$munge/socket" --pid-file="$munge/pid" \
            --log-file="$munge/log" --seed-file="$munge/seed" >&2
    fi
    await munged munge --socket="$munge/socket" --no-input
}

as_slurm() { setpriv --reuid=slurm --regid=slurm --clear-groups "$@"; }

# The user slurm is known by the socket that it comes from, and needs no password. A mariadbd that
# starts removes the temporary tables of others in its tmpdir, so each has its own.
make_database() {
    [ ! -e "$database/data/made" ] || return 0
    {
        echo "create database if not exists mysql;"
        echo "use mysql;"
        echo "set @auth_root_socket='slurm';"
        cat /usr/share/mysql/mysql_system_tables.sql /usr/share/mysql/mysql_system_tables_data.sql
    } | as_slurm mariadbd --no-defaults --bootstrap --datadir="$database/data" --tmpdir="$database/temporary" >"$database/log" 2>&1 ||
        fail "the database cannot be made; the log is $database/log"
    touch "$database/data/made"
}

database_up() { [ -S "$database/socket" ] && running "$database/pid" mariadbd; }

cluster_known() { sacctmgr --noheader --parsable2 list cluster format=cluster | grep -qx rmctltest; }

accounting_up() { cluster_known || sacctmgr --immediate --quiet add cluster rmctltest; }

start_accounting() {
    if ! running "$database/pid" mariadbd; then
        rm -f "$database/socket" "$database/pid"
        make_database
        as_slurm setsid mariadbd --no-defaults --datadir="$database/data" --tmpdir="$database/temporary" \
            --socket="$database/socket" --skip-networking --pid-file="$database/pid" --innodb-flush-log-at-trx-commit=0 >>"$database/log" 2>&1 </dev/null &
    fi
    await mariadbd database_up
    if ! running "$state/pid/slurmdbd" slurmdbd; then
        rm -f "$state/pid/slurmdbd"
        MYSQL_UNIX_PORT=$database/socket slurmdbd >&2
    fi
    await slurmdbd accounting_up
}

controller_up() { scontrol ping | grep -q ' is UP'; }

nodes_up() { [ "$(sinfo --noheader --Node --partition=normal --states=idle,mixed,allocated --format=%N | wc -l)" -eq 2 ]; }

start_slurm() {
    if ! running "$state/pid/slurmctld" slurmctld; then
        rm -f "$state/pid/slurmctld"
        slurmctld -f "$SLURM_CONF" >&2
    fi
    await slurmctld controller_up
    for node in $nodes; do
        running "$state/pid/$node" slurmd || slurmd -N "$node" -f "$SLURM_CONF" >&2
    done
    await slurmd nodes_up
}

make_token_key() {
    [ "$rest" = yes ] && [ ! -s "$state/controller/token-key" ] || return 0
    install -m 600 -o slurm -g slurm /dev/null "$state/controller/token-key"
    head -c 64 /dev/urandom >"$state/controller/token-key"
}

rest_up() { curl -q --fail --silent --config "$state/rest/access" "http://127.0.0.1:$((port + 4))/slurm/v0.0.38/ping"; }

# slurmrestd refuses to run as root. Its own token matters to nobody; callers bring theirs.
start_rest() {
    local token
    install -d -m 700 "$state/rest"
    if ! running "$state/pid/slurmrestd" slurmrestd; then
        SLURM_JWT=daemon setpriv --reuid="$job_user" --regid="$job_user" --init-groups \
            setsid slurmrestd -a rest_auth/jwt "127.0.0.1:$((port + 4))" >>"$state/log/slurmrestd" 2>&1 </dev/null &
        echo $! >"$state/pid/slurmrestd"
    fi
    token=$(scontrol token "username=$job_user" lifespan=86400)
    install -m 600 /dev/stdin "$state/rest/access" <<ACCESS
header = "X-SLURM-USER-NAME: $job_user"
header = "X-SLURM-USER-TOKEN: ${token#SLURM_JWT=}"
ACCESS
    await slurmrestd rest_up
}

install_missing
make_directories
make_token_key
write_configuration
export SLURM_CONF=$state/slurm.conf
start_munged
[ "$accounting" = no ] || start_accounting
start_slurm
[ "$rest" = no ] || start_rest
note "Slurm is up"
echo "export SLURM_CONF=$SLURM_CONF"
