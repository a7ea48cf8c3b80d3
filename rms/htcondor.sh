#!/bin/sh
# htcondor.sh SCRIPT TAG submits a script whose lines that begin with #CONDOR are its submit description, or a file that is a
# submit description itself (one with a queue command). The tag becomes a job attribute. condor_submit refuses
# descriptions of several clusters.
file=$1 tag="+RmctlTag = \"$2\""
has_queue() { grep -i '^[[:space:]]*queue' | grep -q -i -v '^[[:space:]]*queue[^[:space:]]'; }
if has_queue <"$file"; then
  exec condor_submit -terse -single-cluster -append "$tag" "$file"
fi
chmod u+x "$file" || exit
lines=$(sed -n 's/^#CONDOR[[:space:]][[:space:]]*//p' "$file") queue=queue
if printf '%s\n' "$lines" | has_queue; then queue=; fi
printf 'executable = %s\n%s\n%s\n' "$file" "$lines" "$queue" | condor_submit -terse -single-cluster -append "$tag" -
