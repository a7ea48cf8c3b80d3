#!/bin/sh
# Prints the folder that OpenPBS is installed in, if pbs_server is on the PATH and
# tests can start it. Otherwise it says why not on standard error, and exits with 1.
#
# Torque has a pbs_server, too, and Grid Engine's packages install a qstat: only the
# qstat beside pbs_server decides. pbs_server itself knows no version without a pbs.conf.
server=$(command -v pbs_server) || {
    echo "no pbs_server on the PATH, and no package of Debian has it" >&2
    exit 1
}
folder=$(dirname "$(dirname "$(readlink -f "$server")")")
"$folder/bin/qstat" --version 2>/dev/null | grep -q '^pbs_version = ' || {
    echo "$server is not that of OpenPBS" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || {
    echo "only root can start its daemons" >&2
    exit 1
}
echo "$folder"
