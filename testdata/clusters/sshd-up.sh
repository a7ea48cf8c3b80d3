#!/bin/bash
# Starts two real sshd for tests on the loopback interface of this machine: the
# target, and a jump host in front of it. Leaves /etc/ssh alone.
#
#     eval "$(testdata/clusters/sshd-up.sh)"
#     ssh -F "$RMCTL_SSHD_CONFIG" rmtest-target hostname
#
# Needs root on Debian; missing packages are installed. Prints variables for
# what the tests need and says everything else on standard error. Daemons that
# run already with the same settings are kept, so it may be called again.
#
#     RMCTL_SSHD_DIR          where everything is kept   (/tmp/rmctl-test-sshd)
#     RMCTL_SSHD_PORT         port of the target; the
#                             jump host has the next     (28222)
#     RMCTL_SSHD_SFTP         no: without that subsystem (yes)
#     RMCTL_SSHD_MAXSESSIONS  channels of a connection   (300)
#     RMCTL_SSHD_PASSWORDS    yes: password and keyboard-interactive are
#                             offered as well as keys    (no)
#     RMCTL_SSHD_X11          no: X11 is not forwarded   (yes)
#     RMCTL_SSHD_LISTEN       no: no port is forwarded to clients, none: no
#                             port may be listened on, gateway: other
#                             machines reach forwarded ports  (yes)
#     RMCTL_SSHD_HOSTKEY      other: the target shows a host key that
#                             known_hosts does not have  (known)
#     RMCTL_SSHD_ENVIRONMENT  NAME=VALUE ... of every session, as a site sets
#                             it that has Slurm's configuration at a place of
#                             its own; values without blanks  (none)
#
# Hosts of the configuration that it writes:
#
#     rmtest-target       the target, as the user rmtest
#     rmtest-jump         the jump host
#     rmtest-behind       the target by way of the jump host
#     rmtest-SHELL        the target, as a user whose login shell is SHELL:
#                         sh, bash, zsh, csh, tcsh or fish
#     rmtest-certificate  the target, with a key that only a certificate lets in,
#                         and a host key that only a certificate vouches for
#     rmtest-password     the target, as a user who has but a password; it
#                         stands in client/password of the directory
set -eu

state=${RMCTL_SSHD_DIR:-/tmp/rmctl-test-sshd}
port=${RMCTL_SSHD_PORT:-28222}
sftp=${RMCTL_SSHD_SFTP:-yes}
max_sessions=${RMCTL_SSHD_MAXSESSIONS:-300}
passwords=${RMCTL_SSHD_PASSWORDS:-no}
x11=${RMCTL_SSHD_X11:-yes}
listen=${RMCTL_SSHD_LISTEN:-yes}
host_key=${RMCTL_SSHD_HOSTKEY:-known}
environment=${RMCTL_SSHD_ENVIRONMENT:-}
shells="sh bash zsh csh tcsh fish"
client=$state/client
password_user=rmtest-$port # one for each target, as each directory has a password of its own

note() { echo "sshd-up: $*" >&2; }
fail() {
    note "$*"
    exit 1
}

[ "$(id -u)" -eq 0 ] || fail "only root can start sshd for other users"
"$(dirname "$0")/install.sh"

# running PIDFILE: is the process of that file alive, and an sshd?
running() {
    local id program
    id=$(cat "$1" 2>/dev/null) || return 1
    program=$(readlink "/proc/$id/exe") || return 1
    [ "${program##*/}" = sshd ]
}

# make_user NAME SHELL: with a password that nothing matches. An account that is
# locked would not be let in even by key.
make_user() {
    id "$1" >/dev/null 2>&1 || useradd --create-home --shell "$2" "$1"
    [ "$(getent passwd "$1" | cut -d: -f7)" = "$2" ] || usermod --shell "$2" "$1"
    case $(getent shadow "$1" | cut -d: -f2) in '!'*) usermod --password '*' "$1" ;; esac
}

# Scripts that run at the same time must not make the same user, or find /etc/passwd locked.
make_users() {
    local shell
    exec 9>/run/rmctl-test-users.lock
    flock 9
    make_user rmtest /bin/bash
    for shell in $shells; do make_user "rmtest-$shell" "$(command -v "$shell")"; done
    make_user "$password_user" /bin/bash
    if [ ! -s "$client/password" ]; then
        install -m 600 /dev/null "$client/password"
        od -An -N12 -tx1 /dev/urandom | tr -d ' \n' >"$client/password"
    fi
    printf '%s:%s\n' "$password_user" "$(cat "$client/password")" | chpasswd --crypt-method SHA512
    exec 9>&-
}

make_key() { [ -f "$1" ] || ssh-keygen -q -t ed25519 -N '' -C "rmctl test ${1##*/}" -f "$1"; }

make_keys() {
    local name
    for name in host_known host_other host_jump authority; do make_key "$state/$name"; done
    for name in id_known id_certified id_stranger; do make_key "$client/$name"; done
    # Two kinds of host key, as most servers have.
    [ -f "$state/host_ecdsa" ] || ssh-keygen -q -t ecdsa -N '' -C "rmctl test host_ecdsa" -f "$state/host_ecdsa"
    ssh-keygen -q -s "$state/authority" -I rmctl-test-user -n rmtest -V -5m:+52w "$client/id_certified.pub"
    ssh-keygen -q -s "$state/authority" -I rmctl-test-host -h -n 127.0.0.1 -V -5m:+52w "$state/host_known.pub"
    install -m 644 "$client/id_known.pub" "$state/authorized_keys"
}

write_daemon_configuration() { # NAME PORT HOSTKEY
    local file=$state/$1.conf.new
    cat >"$file" <<CONF
# made by testdata/clusters/sshd-up.sh
ListenAddress 127.0.0.1
Port $2
PidFile $state/$1.pid
HostKey $3
# The directory may lie below one that everybody may write to, as /tmp is.
StrictModes no
AuthorizedKeysFile $state/authorized_keys
TrustedUserCAKeys $state/authority.pub
PasswordAuthentication $passwords
KbdInteractiveAuthentication $passwords
UsePAM $passwords
PermitRootLogin no
PermitEmptyPasswords no
AllowUsers rmtest $password_user $(printf 'rmtest-%s ' $shells)
UseDNS no
PrintMotd no
PrintLastLog no
MaxAuthTries 20
MaxStartups 200:30:300
MaxSessions $max_sessions
X11Forwarding $x11
X11UseLocalhost yes
LogLevel VERBOSE
CONF
    # Newer ones slow down those who fail to authenticate, as tests do.
    if /usr/sbin/sshd -t -f /dev/null -h "$state/host_known" -o PerSourcePenalties=no 2>/dev/null; then
        echo "PerSourcePenalties no" >>"$file"
    fi
    case $listen in
    no) echo "AllowTcpForwarding local" >>"$file" ;;
    none) echo "PermitListen none" >>"$file" ;;
    gateway) echo "GatewayPorts yes" >>"$file" ;;
    esac
    [ "$sftp" = no ] || echo "Subsystem sftp internal-sftp" >>"$file"
    [ -z "$environment" ] || echo "SetEnv $environment" >>"$file"
}

write_daemon_configurations() {
    write_daemon_configuration jump "$((port + 1))" "$state/host_jump"
    write_daemon_configuration target "$port" "$state/host_$host_key"
    [ "$host_key" = other ] ||
        printf 'HostKey %s\nHostCertificate %s\n' "$state/host_ecdsa" "$state/host_known-cert.pub" >>"$state/target.conf.new"
}

host() { # NAME LINE...
    printf 'Host %s\n' "$1"
    shift
    printf '    %s\n' "$@"
}

write_client_configuration() {
    local shell
    {
        printf '[127.0.0.1]:%s %s\n' "$port" "$(cut -d' ' -f1,2 "$state/host_known.pub")"
        printf '[127.0.0.1]:%s %s\n' "$((port + 1))" "$(cut -d' ' -f1,2 "$state/host_jump.pub")"
    } >"$client/known_hosts"
    printf '@cert-authority [127.0.0.1]:%s %s\n' "$port" "$(cut -d' ' -f1,2 "$state/authority.pub")" >"$client/known_authorities"
    {
        echo "# made by testdata/clusters/sshd-up.sh"
        host rmtest-jump "Port $((port + 1))"
        host rmtest-behind "ProxyJump rmtest-jump"
        for shell in $shells; do host "rmtest-$shell" "User rmtest-$shell"; done
        host rmtest-certificate "IdentityFile $client/id_certified" "UserKnownHostsFile $client/known_authorities"
        host rmtest-password "User $password_user" "PubkeyAuthentication no" "BatchMode no"
        host 'rmtest-*' "HostName 127.0.0.1" "Port $port" "User rmtest" "IdentityFile $client/id_known" \
            "IdentitiesOnly yes" "IdentityAgent none" "UserKnownHostsFile $client/known_hosts" \
            "GlobalKnownHostsFile /dev/null" "StrictHostKeyChecking yes" "BatchMode yes" "ConnectTimeout 15"
    } >"$client/config"
    chmod 600 "$client/config"
}

stop() { # PIDFILE
    local id
    id=$(cat "$1")
    kill "$id" 2>/dev/null || true
    while readlink "/proc/$id/exe" >/dev/null; do sleep 0.05; done
    rm -f "$1"
}

answers() { bash -c "exec 3<>/dev/tcp/127.0.0.1/$1"; } 2>/dev/null

start() { # NAME PORT
    local tries=1200
    if running "$state/$1.pid"; then
        if cmp -s "$state/$1.conf" "$state/$1.conf.new"; then
            rm "$state/$1.conf.new"
            return
        fi
        stop "$state/$1.pid"
    fi
    ! answers "$2" || fail "port $2 is in use by something else; choose another with RMCTL_SSHD_PORT"
    mv "$state/$1.conf.new" "$state/$1.conf"
    /usr/sbin/sshd -f "$state/$1.conf" -E "$state/$1.log" || fail "the $1 did not start; its log is $state/$1.log"
    until answers "$2"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || fail "the $1 does not answer; its log is $state/$1.log"
        sleep 0.05
    done
}

install -d -m 755 "$state" /run/sshd
install -d -m 700 "$client"
make_users
make_keys
write_daemon_configurations
write_client_configuration
start target "$port"
start jump "$((port + 1))"
note "sshd is up on ports $port and $((port + 1))"
echo "export RMCTL_SSHD_DIR=$state"
echo "export RMCTL_SSHD_CONFIG=$client/config"
