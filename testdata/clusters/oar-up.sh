#!/bin/bash
# Starts a real OAR for tests on this one machine, without systemd: its server
# Almighty, a PostgreSQL and an sshd of its own, which stands for two nodes.
#
#     eval "$(testdata/clusters/oar-up.sh)"
#
# Needs root on Debian; missing packages are installed. Prints a variable for
# oar-down.sh, and says everything else on standard error. Daemons that run
# already are kept, so it may be called again.
#
#     RMCTL_OAR_DIR    where everything is kept  (/tmp/rmctl-test-oar)
#     RMCTL_OAR_PORT   Almighty's port; sshd and PostgreSQL have the next two (25817)
#     RMCTL_OAR_SLOTS  resources of each node    (8)
#     RMCTL_OAR_USER   user who submits jobs     (rmtest; created if missing)
#
# OAR's programs read /etc/oar/oar.conf only. While this one is up that is a link
# into its directory, and the file of the package waits beside it with .package
# at its end: there is one OAR at a time. Almighty listens on all addresses.
set -eu

state=${RMCTL_OAR_DIR:-/tmp/rmctl-test-oar}
port=${RMCTL_OAR_PORT:-25817}
slots=${RMCTL_OAR_SLOTS:-8}
job_user=${RMCTL_OAR_USER:-rmtest}
configuration=/etc/oar/oar.conf
nodes="node1 node2"
patience=180 # seconds for a daemon to answer

note() { echo "oar-up: $*" >&2; }
fail() {
    note "$*"
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "only root can start OAR"
"$(dirname "$0")/install.sh"

# running PIDFILE PROGRAM: is the process of that file alive, and that program?
running() {
    local id
    id=$(head -n 1 "$1" 2>/dev/null) || return 1
    [ -n "$id" ] && tr '\0' ' ' <"/proc/$id/cmdline" 2>/dev/null | grep -q "$2"
}

# await WHAT COMMAND...: repeats the command until it succeeds
await() {
    local what=$1 end=$((SECONDS + patience))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || fail "$what does not answer; its log is in $state/log"
        sleep 0.1
    done
}

answers() { bash -c "exec 3<>/dev/tcp/127.0.0.1/$1"; } 2>/dev/null

# Scripts that run at the same time must not make the same user, or find /etc/passwd locked.
make_user() {
    exec 9>/run/rmctl-test-users.lock
    flock 9
    id "$job_user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$job_user"
    exec 9>&-
}

make_directories() {
    make_user
    install -d -m 755 "$state" "$state/run" /run/sshd
    install -d -m 1777 "$state/log"
    install -d -m 755 -o oar -g oar "$state/runtime"
    install -d -m 700 -o oar -g oar "$state/ssh"
    install -d -m 700 -o postgres -g postgres "$state/database" "$state/socket"
    [ -s "$state/password" ] || (umask 077 && od -An -N12 -tx1 /dev/urandom | tr -d ' \n' >"$state/password")
}

write_configuration() {
    install -m 600 -o oar -g root /dev/stdin "$state/oar.conf" <<CONF
# made by testdata/clusters/oar-up.sh
DB_TYPE="Pg"
DB_HOSTNAME="127.0.0.1"
DB_PORT="$((port + 2))"
DB_BASE_NAME="oar"
DB_BASE_LOGIN="oar"
DB_BASE_PASSWD="$password"
DB_BASE_LOGIN_RO="oar_ro"
DB_BASE_PASSWD_RO="$password"
SERVER_HOSTNAME="localhost"
SERVER_PORT="$port"
OARSUB_DEFAULT_RESOURCES="/resource_id=1"
OARSUB_NODES_RESOURCES="network_address"
OARSUB_FORCE_JOB_KEY="no"
LOG_LEVEL="2"
LOG_CATEGORIES="all"
LOG_FILE="$state/log/oar"
OAREXEC_DEBUG_MODE="0"
OAR_RUNTIME_DIRECTORY="$state/runtime"
DEPLOY_HOSTNAME="127.0.0.1"
OARSH_OARSTAT_CMD="/usr/bin/oarstat"
COSYSTEM_HOSTNAME="127.0.0.1"
DETACH_JOB_FROM_SERVER="1"
OPENSSH_CMD="/usr/bin/ssh -F $state/ssh/config -e none"
FINAUD_FREQUENCY="300"
PINGCHECKER_SENTINELLE_SCRIPT_COMMAND="/usr/lib/oar/sentinelle.pl -t 30 -w 20"
SCHEDULER_TIMEOUT="60"
# react within a second, as tests wait for it
SCHEDULER_MIN_TIME_BETWEEN_2_CALLS="1"
SCHEDULER_JOB_SECURITY_TIME="1"
SCHEDULER_GANTT_HOLE_MINIMUM_TIME="300"
SCHEDULER_RESOURCE_ORDER="state_num ASC, network_address ASC, resource_id ASC"
SCHEDULER_PRIORITY_HIERARCHY_ORDER="network_address/resource_id"
SCHEDULER_AVAILABLE_SUSPENDED_RESOURCE_TYPE="default"
SCHEDULER_FAIRSHARING_MAX_JOB_PER_USER=30
ENERGY_SAVING_INTERNAL="no"
# suspending needs the name of a field; there are no cgroups
JOB_RESOURCE_MANAGER_PROPERTY_DB_FIELD="cpuset"
JOB_RESOURCE_MANAGER_FILE="$state/job_manager.pl"
SUSPEND_RESUME_FILE="$state/job_manager.pl"
OARSTAT_DEFAULT_OUTPUT_FORMAT=2
CONF
    # what OAR runs on the nodes of a job: its processes have OAR_JOB_ID in their environment
    cat >"$state/job_manager.pl" <<'PERL'
my $job = eval(join("", <STDIN>));
my %signals = (clean => "KILL", suspend => "STOP", resume => "CONT");
my $signal = $signals{$ARGV[0]} or exit(0);
$job->{job_id} =~ /^\d+$/ or exit(2);
system("oardodo grep -slzx 'OAR_JOB_ID=$job->{job_id}' /proc/[0-9]*/environ | cut -d/ -f3 | xargs -r oardodo kill -$signal 2>/dev/null");
PERL
}

write_ssh_configuration() {
    local key
    for key in host id; do
        [ -s "$state/ssh/$key" ] || ssh-keygen -q -t ed25519 -N '' -C "rmctl test oar" -f "$state/ssh/$key"
    done
    printf 'environment="OAR_KEY=1" %s\n' "$(cat "$state/ssh/id.pub")" >"$state/ssh/authorized_keys"
    cat >"$state/ssh/config" <<CONF
Host $nodes localhost 127.0.0.1
HostName 127.0.0.1
Port $((port + 1))
IdentityFile $state/ssh/id
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile $state/ssh/known_hosts
StrictHostKeyChecking no
LogLevel ERROR
SendEnv OAR_CPUSET OAR_USER_CPUSET OAR_JOB_USER
CONF
    cat >"$state/ssh/sshd_config" <<CONF
ListenAddress 127.0.0.1
Port $((port + 1))
HostKey $state/ssh/host
PidFile $state/run/sshd
AuthorizedKeysFile $state/ssh/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
AllowUsers oar
AcceptEnv OAR_CPUSET OAR_USER_CPUSET OAR_JOB_USER
PermitUserEnvironment yes
MaxStartups 1024
PrintMotd no
PrintLastLog no
CONF
    chown -R oar:oar "$state/ssh"
    chown root "$state/ssh/host"
}

start_sshd() {
    if ! running "$state/run/sshd" sshd; then
        rm -f "$state/run/sshd"
        /usr/sbin/sshd -f "$state/ssh/sshd_config" -E "$state/log/sshd" || fail "sshd did not start; its log is $state/log/sshd"
    fi
    await sshd answers "$((port + 1))"
}

as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups "$@"; }

start_database() {
    local programs
    programs=$(find /usr/lib/postgresql -name pg_ctl | sort -V | tail -n 1)
    programs=${programs%/*}
    if [ ! -s "$state/database/PG_VERSION" ]; then
        install -m 600 -o postgres "$state/password" "$state/socket/password"
        as_postgres "$programs/initdb" -D "$state/database" -U postgres --pwfile="$state/socket/password" -A scram-sha-256 -E UTF8 \
            --locale=C.UTF-8 --no-sync >"$state/log/initdb" 2>&1 || fail "the database cannot be made; the log is $state/log/initdb"
        rm "$state/socket/password"
    fi
    if ! running "$state/database/postmaster.pid" postgres; then
        rm -f "$state/database/postmaster.pid"
        (cd / && as_postgres "$programs/pg_ctl" -D "$state/database" -l "$state/log/postgres" -w -t $patience \
            -o "-c listen_addresses=127.0.0.1 -p $((port + 2)) -k $state/socket -c fsync=off" start </dev/null >&2) ||
            fail "PostgreSQL did not start; its log is $state/log/postgres"
    fi
}

query() { PGPASSWORD=$password psql -qAt -h 127.0.0.1 -p "$((port + 2))" -U oar -d oar -c "$1"; }

# The one configuration file is that of this OAR, unless another one is up.
take_configuration() {
    local other
    if [ -L "$configuration" ]; then
        other=$(readlink "$configuration")
        other=${other%/*}
        [ "$other" = "$state" ] || ! running "$other/run/almighty" Almighty || fail "another OAR is up in $other"
    elif [ -e "$configuration" ]; then
        mv "$configuration" "$configuration.package"
    fi
    ln -sfn "$state/oar.conf" "$configuration"
}

make_tables() {
    query 'select 1 from resources limit 1' >/dev/null 2>&1 ||
        oar-database --create --conf "$state/oar.conf" --db-admin-user postgres --db-admin-pass "$password" -y </dev/null >"$state/log/tables" 2>&1 ||
        fail "the tables cannot be made; the log is $state/log/tables"
}

# Almighty leads a session of its own, by which oar-down.sh knows its helpers.
start_almighty() {
    if ! running "$state/run/almighty" Almighty; then
        (cd / && exec setsid /usr/sbin/Almighty </dev/null >>"$state/log/almighty" 2>&1 9>&-) &
        echo $! >"$state/run/almighty"
    fi
    await Almighty answers "$port"
}

make_resources() {
    local node
    for node in $nodes; do
        if [ -z "$(query "select 1 from resources where network_address = '$node' limit 1")" ]; then
            query "insert into resources (network_address, cpuset, state, state_num) select '$node', n, 'Alive', 1 from generate_series(0, $((slots - 1))) n"
        fi
    done
    query "update resources set state = 'Alive', state_num = 1, next_state = 'UnChanged', drain = 'NO'"
}

make_directories
password=$(cat "$state/password")
write_configuration
write_ssh_configuration
start_sshd
start_database
take_configuration
make_tables
make_resources
start_almighty
await oarnodes sh -c "oarnodes -s | grep -q Alive"
note "OAR is up"
echo "export RMCTL_OAR_DIR=$state"
