#!/bin/bash
# Starts a real Grid Engine for tests on this one machine: a qmaster and an
# execution daemon with a cell of their own, without systemd.
#
#     eval "$(testdata/clusters/gridengine-up.sh)"
#
# Needs root on Debian; missing packages are installed, whose own cell is left
# alone. Prints the variables that Grid Engine's commands need, and says
# everything else on standard error. Daemons that run already are kept, so it may
# be called again.
#
#     RMCTL_GRIDENGINE_DIR     where everything is kept      (/tmp/rmctl-test-gridengine)
#     RMCTL_GRIDENGINE_PORT    the qmaster's port; the execution daemon has the next one (26817)
#     RMCTL_GRIDENGINE_SLOTS   slots of each queue           (8)
#     RMCTL_GRIDENGINE_FLUSH   seconds until what jobs did is written to the accounting file (0)
#     RMCTL_GRIDENGINE_USER    user who submits jobs         (rmtest; created if missing)
#
# Neither daemon has a setting for the addresses to listen on. They refuse hosts that
# they do not know, and know this one only.
set -eu

state=${RMCTL_GRIDENGINE_DIR:-/tmp/rmctl-test-gridengine}
port=${RMCTL_GRIDENGINE_PORT:-26817}
slots=${RMCTL_GRIDENGINE_SLOTS:-8}
flush=${RMCTL_GRIDENGINE_FLUSH:-0}
job_user=${RMCTL_GRIDENGINE_USER:-rmtest}
programs=/usr/lib/gridengine
shared=/usr/share/gridengine
patience=180 # seconds for a daemon to answer

note() { echo "gridengine-up: $*" >&2; }
fail() {
    note "$*"
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "only root can start Grid Engine's daemons"

# The packages would make a cell and start daemons of their own; a policy that
# forbids the latter is put in place for as long as the installation takes.
install_missing() {
    local wanted missing="" policy=/usr/sbin/policy-rc.d own_policy=no result=0
    for wanted in gridengine-master gridengine-exec gridengine-client; do
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
        for wanted in common client exec master; do
            echo "gridengine-$wanted shared/gridengineconfig boolean false"
        done | debconf-set-selections
        apt-get -q -o DPkg::Lock::Timeout=300 update &&
            apt-get -q -y -o DPkg::Lock::Timeout=300 install --no-install-recommends $missing
    } >&2 || result=$?
    if [ $own_policy = yes ]; then rm -f $policy; fi
    [ $result -eq 0 ] || fail "apt-get could not install$missing"
}

# running PIDFILE PROGRAM: is the process of that file alive, and that program?
running() {
    local id program
    id=$(cat "$1" 2>/dev/null) || return 1
    [ -n "$id" ] || return 1
    program=$(readlink "/proc/$id/exe") || return 1
    [ "${program##*/}" = "$2" ]
}

# await WHAT COMMAND...: repeats the command until it succeeds
await() {
    local what=$1 end=$((SECONDS + patience))
    shift
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || fail "$what does not answer; its messages are below $state/spool"
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
    local part
    make_user
    install -d -m 755 "$state" "$SGE_ROOT" "$SGE_ROOT/$SGE_CELL"
    # Jobs of several cells have the same numbers and queues, and their directories the same names.
    install -d -m 1777 "$state/temporary"
    for part in bin utilbin lib; do
        install -d -m 755 "$SGE_ROOT/$part"
        ln -sfn "$programs" "$SGE_ROOT/$part/$SGE_ARCH"
    done
    ln -sfn "$shared/util" "$SGE_ROOT/util"
    install -d -m 755 -o sgeadmin -g sgeadmin "$common" "$state/spool" "$state/spool/qmaster" "$state/spool/qmaster/job_scripts" "$state/spool/execd"
}

# Hosts are compared by name. The address of this one may well give "localhost"
# when it is looked up.
write_cell() {
    echo "$host" >"$common/act_qmaster"
    echo "$host localhost" >"$common/host_aliases"
    echo rmctl-test >"$common/cluster_name"
    : >>"$common/accounting" # else there is none before the first job has ended
    chown sgeadmin:sgeadmin "$common"/* # the qmaster rewrites the first
    [ ! -s "$common/bootstrap" ] || return 0
    cat >"$state/bootstrap" <<CONF
admin_user sgeadmin
default_domain none
ignore_fqdn true
spooling_method classic
spooling_lib libspoolc
spooling_params $common;$state/spool/qmaster
binary_path $programs
qmaster_spool_dir $state/spool/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
CONF
    # no programs of a site; root may have jobs; how a job ended is in the accounting file soon, and who was deleted in the log of jobs
    cat >"$state/global" <<CONF
conf_version 0
execd_spool_dir $state/spool/execd
mailer /bin/true
xterm /bin/false
load_sensor none
prolog none
epilog none
shell_start_mode unix_behavior
login_shells sh,bash
min_uid 0
min_gid 0
user_lists none
xuser_lists none
projects none
xprojects none
enforce_project false
enforce_user auto
load_report_time 00:00:02
max_unheard 00:01:00
reschedule_unknown 00:00:00
loglevel log_info
administrator_mail none
set_token_cmd none
pag_cmd none
token_extend_time none
shepherd_cmd none
qmaster_params none
execd_params none
reporting_params accounting=true reporting=true flush_time=00:00:01 accounting_flush_time=$(date -u -d "@$flush" +%H:%M:%S) joblog=true sharelog=00:00:00
finished_jobs 100
gid_range 65300-65399
qlogin_command builtin
qlogin_daemon builtin
rlogin_command builtin
rlogin_daemon builtin
rsh_command builtin
rsh_daemon builtin
max_aj_instances 2000
max_aj_tasks 75000
max_u_jobs 0
max_jobs 0
auto_user_oticket 0
auto_user_fshare 0
auto_user_default_project none
auto_user_delete_time 86400
delegated_file_staging false
reprioritize 0
jsv_url none
jsv_allowed_mod ac,h,i,e,o,j,M,N,p,w
CONF
    chown sgeadmin:sgeadmin "$state/bootstrap" "$state/global"
    cp -p "$state/bootstrap" "$common/bootstrap"
    spool() { setpriv --reuid=sgeadmin --regid=sgeadmin --clear-groups "$programs/$@" >&2; }
    spool spoolinit classic libspoolc "$common;$state/spool/qmaster" init &&
        spool spooldefaults configuration "$state/global" &&
        spool spooldefaults complexes "$shared/util/resources/centry" &&
        spool spooldefaults usersets "$shared/util/resources/usersets" &&
        spool spooldefaults managers root sgeadmin &&
        spool spooldefaults operators root sgeadmin &&
        spool spooldefaults adminhosts "$host" &&
        spool spooldefaults submithosts "$host" || {
        rm -f "$common/bootstrap"
        fail "the cell cannot be made"
    }
}

start_qmaster() {
    if ! running "$state/spool/qmaster/qmaster.pid" sge_qmaster; then
        rm -f "$state/spool/qmaster/qmaster.pid"
        "$programs/sge_qmaster" >&2
    fi
    await sge_qmaster qconf -sh
}

# add KIND NAME OPTION: the object of that name, as standard input describes it
add() {
    cat >"$state/object"
    qconf "-s$1" "$2" >/dev/null 2>&1 || qconf "-A$1" "$state/object" >&2
}

add_environment() { # NAME RULE
    add p "$1" <<CONF
pe_name $1
slots 999
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule $2
control_slaves TRUE
job_is_first_task FALSE
urgency_slots min
qsort_args NONE
accounting_summary FALSE
CONF
}

# what a queue does not say is as Grid Engine's own template has it
add_queue() { # NAME POSITION RUNTIME STATE
    qconf -sq "$1" >/dev/null 2>&1 && return 0
    # no queue has this name, so this is the template
    qconf -sq 2>/dev/null | sed -e "s|^qname .*|qname $1|" -e "s|^hostlist .*|hostlist @allhosts|" -e "s|^seq_no .*|seq_no $2|" \
        -e "s|^slots .*|slots $slots|" -e "s|^h_rt .*|h_rt $3|" -e "s|^initial_state .*|initial_state $4|" \
        -e "s|^shell .*|shell /bin/sh|" -e "s|^shell_start_mode .*|shell_start_mode unix_behavior|" \
        -e "s|^load_thresholds .*|load_thresholds NONE|" -e "s|^pe_list .*|pe_list smp mpi pairs|" \
        -e "s|^notify .*|notify 00:00:02|" -e "s|^tmpdir .*|tmpdir $state/temporary|" >"$state/object"
    qconf -Aq "$state/object" >&2
}

configure() {
    qconf -ss "$host" >/dev/null 2>&1 || qconf -as "$host" >&2 || true
    add e "$host" <<CONF
hostname $host
load_scaling NONE
complex_values NONE
user_lists NONE
xuser_lists NONE
projects NONE
xprojects NONE
usage_scaling NONE
report_variables NONE
CONF
    add hgrp @allhosts <<<"group_name @allhosts"$'\n'"hostlist $host"
    add_environment smp '$pe_slots'
    add_environment mpi '$round_robin'
    add_environment pairs 2
    # react within a second, as tests wait for it, and say why jobs wait
    qconf -ssconf | sed -e 's/^schedule_interval .*/schedule_interval 0:0:1/' -e 's/^flush_submit_sec .*/flush_submit_sec 1/' \
        -e 's/^flush_finish_sec .*/flush_finish_sec 1/' -e 's/^queue_sort_method .*/queue_sort_method seqno/' \
        -e 's/^schedd_job_info .*/schedd_job_info true/' >"$state/object"
    qconf -Msconf "$state/object" >&2
    add_queue main.q 10 00:30:00 default
    add_queue long-runs.q 20 INFINITY default
    add_queue closed.q 30 INFINITY disabled
}

host_reports() { [ "$(qhost -h "$host" | awk -v name="${host%%.*}" '$1 == name { print $3 }')" -gt 0 ]; }

start_execution() {
    local file
    for file in "$state"/spool/execd/*/execd.pid; do
        if running "$file" sge_execd; then return 0; fi
    done
    "$programs/sge_execd" >&2
}

install_missing
host=$(hostname)
SGE_ROOT=$state/root
SGE_CELL=default
SGE_QMASTER_PORT=$port
SGE_EXECD_PORT=$((port + 1))
SGE_ARCH=$("$shared/util/arch")
export SGE_ROOT SGE_CELL SGE_QMASTER_PORT SGE_EXECD_PORT SGE_ARCH
common=$SGE_ROOT/$SGE_CELL/common
make_directories
echo "$port" >"$state/port"
write_cell
start_qmaster
[ -e "$state/configured" ] || configure
touch "$state/configured"
start_execution
await sge_execd host_reports
qmod -cq '*' >&2 || true # what an earlier job may have left
note "Grid Engine is up"
for variable in SGE_ROOT SGE_CELL SGE_QMASTER_PORT SGE_EXECD_PORT; do
    echo "export $variable=${!variable}"
done
