#!/bin/sh
# install.sh - installs what the suites against real components need: Slurm with
# munge, Grid Engine, OAR with PostgreSQL, sshd, Open MPI, MPICH, a JDK for java.util.regex, xmllint, and the shells that rms/local.xml
# and the commands over SSH must work with, strace, which plays a file system without locks,
# chromium, which the pages of rmctl serve are tried in, GlusterFS, which shares files, the C library of RSL, and Dask. Runs as root on Debian; what is there already is left alone.
set -eu

packages="task-spooler slurmctld slurmd slurm-client munge libxml2-utils dash busybox procps strace openssh-server openssh-client openssh-sftp-server xauth zsh csh tcsh fish gridengine-master gridengine-exec gridengine-client openmpi-bin mpich"
packages="$packages slurmrestd slurm-wlm-jwt-plugin curl"
packages="$packages slurmdbd mariadb-server-core" # Slurm's accounting; the core has no service
packages="$packages postgresql oar-server oar-server-pgsql oar-user oar-user-pgsql oar-node libjson-perl" # oarstat prints JSON with the last one
packages="$packages faketime" # clocks that differ
packages="$packages chromium"
packages="$packages python3-sphinx python3-myst-parser furo" # site/build
packages="$packages glusterfs-server" # a file system that machines share
packages="$packages libglobus-rsl-dev pkg-config" # the C library of RSL, which package rsl is compared with
packages="$packages gdb gcc libc6-dev python3-dbg" # stacks of processes; the last one shows frames of Python in gdb
packages="$packages g++ gfortran" # programs in C++ and Fortran that gdb debugs
packages="$packages python3-distributed" # Dask, whose scheduler and workers are parts of an ensemble
packages="$packages lldb-14 delve golang-1.19-go" # debuggers that speak the Debug Adapter Protocol; Debian's delve knows Go until 1.19
packages="$packages mmdebstrap" # the minimal Debian that the package of rmctl is installed in
command -v npm >/dev/null 2>&1 || packages="$packages nodejs npm" # for the client of install_client
command -v java >/dev/null 2>&1 || packages="$packages default-jdk-headless"

# install_client installs the client that Microsoft tests debug adapters with.
install_client() {
    client=@vscode/debugadapter-testsupport
    [ -d "$(npm root -g)/$client" ] ||
        timeout 120 npm install -g --ignore-scripts --no-audit --no-fund --silent "$client@1.68.0" >&2 ||
        echo "install.sh: cannot install $client: the test that needs it is skipped" >&2
}

missing=
for package in $packages; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || { install_client; exit 0; }

[ "$(id -u)" = 0 ] || { echo "install.sh: must run as root to install:$missing" >&2; exit 1; }
echo "install.sh: installing$missing" >&2

# Packages must not start services of their own here.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    trap 'rm -f "$policy"' EXIT
fi
# Nor does PostgreSQL make databases of its own.
if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
    mkdir -p /etc/postgresql-common
    echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
fi
export DEBIAN_FRONTEND=noninteractive
# Grid Engine's packages would make a cell of their own.
for package in common client exec master; do
    echo "gridengine-$package shared/gridengineconfig boolean false"
done | debconf-set-selections
apt-get update -q >&2
# shellcheck disable=SC2086 # a list of words
apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 $missing >&2
install_client
