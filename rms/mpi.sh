#!/bin/sh
# Starts ranks on the requested number of nodes, or refuses: implements the portable name
# nodes of rms/mpich.xml and rms/openmpi.xml.
#
#   sh mpi.sh NODES TASKS EACH PROGRAM [ARGUMENT...]         EACH: ranks on each node
#   sh mpi.sh --hosts NODES TASKS EACH MPIEXEC [OPTION...] -n TASKS PROGRAM [ARGUMENT...]
#
# With --hosts it first starts a rank on each node, with the same options, and counts the hosts: with
# too few hosts, Hydra silently starts over with the first one. Exit code 2: refused.

refuse() {
  echo "$1" >&2
  exit 2
}

# ranks prints a line @HOST: for each node.
ranks() {
  nodes=$1
  shift
  left=$#
  while [ "$left" -gt 0 ]; do
    case $1 in
      -n) shift "$left"; break ;;
      -ppn | -prepend-pattern) shift 2; left=$((left - 2)) ;; # the number of ranks and their prefix
      *) set -- "$@" "$1"; shift; left=$((left - 1)) ;;
    esac
  done
  # Hydra 4.0 dies of SIGPIPE if the first rank ends before reading its input to the end.
  "$@" -prepend-pattern '@%h:' -ppn 1 -n "$nodes" sh -c '[ "${PMI_RANK:-$PMIX_RANK}" != 0 ] || cat; echo' </dev/null
}

hosts=
if [ "$1" = --hosts ]; then
  hosts=yes
  shift
fi
nodes=$1 tasks=$2 each=$3
shift 3

if [ $(((nodes - 1) * each)) -ge "$tasks" ]; then
  filled=$(((tasks + each - 1) / each))
  refuse "$tasks tasks do not fill $nodes nodes: with $each on each node they use $filled; request nodes=$filled or tasks=$((nodes * each))"
fi
if [ -n "$hosts" ] && [ "$nodes" -gt 1 ]; then
  printed=$(ranks "$nodes" "$@") || exit
  count=$(printf '%s\n' "$printed" | sed -n 's/^@\(.*\):$/\1/p' | sort -u | grep -c .)
  [ "$count" -ge "$nodes" ] ||
    refuse "fewer hosts than nodes: $count for nodes=$nodes; request fewer nodes, or name more hosts"
fi
exec "$@"
