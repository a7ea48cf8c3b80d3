#!/bin/sh
# Submits a script to Cobalt: cobalt.sh SCRIPT TAG
#
# Cobalt runs a script where it is, and rmctl deletes the one that it staged: this submits a copy, whose path has the tag of
# the submission. Cobalt's log of the job has the tag in its name, too. It exists before the job does, so that a log with text
# in it means that there was a job. Both files stay for 60 days: a submission that failed may have reached Cobalt.

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

# Cobalt keeps one log: that of the script, if its directives name one.
set -- --debuglog "$log"
grep -q '^#COBALT.* --debuglog' "$script" && set --

answer=$(qsub "$@" "$copy")
code=$?
[ -z "$answer" ] || printf '%s\n' "$answer"
# qsub exits 0 without an answer if Cobalt did not take the job
[ "$code" -ne 0 ] || [ -n "$answer" ] || [ -s "$log" ] || code=1
exit "$code"
