#!/bin/sh
# Submits a script to Cobalt: cobalt.sh SCRIPT TAG
#
# Cobalt does not copy scripts, and rmctl deletes its staged script: this submits a copy, whose path contains the tag of
# the submission. The name of Cobalt's job log also contains the tag. The log is created, empty, before the job: a log with
# text proves a job. Both files are kept for 60 days, as a failed submission may have reached Cobalt.

script=$1 tag=$2
case $tag in '' | *[!0-9a-f-]*)
	printf 'invalid tag "%s"\n' "$tag" >&2
	exit 1
	;;
esac
notes=$HOME/.eclipsesettings/cobalt
log=$notes/$tag.log copy=$notes/$tag.sh
(umask 077 && mkdir -p "$notes" && : >>"$log" && cp "$script" "$copy" && chmod 700 "$copy") || exit
find "$notes" -type f -mtime +60 -exec rm -f {} +

# Cobalt writes one log: the one named by the script's directives, if any.
set -- --debuglog "$log"
grep -q '^#COBALT.* --debuglog' "$script" && set --

answer=$(qsub "$@" "$copy")
code=$?
[ -z "$answer" ] || printf '%s\n' "$answer"
# qsub exits 0 without output if Cobalt did not accept the job
[ "$code" -ne 0 ] || [ -n "$answer" ] || [ -s "$log" ] || code=1
exit "$code"
