#!/bin/sh
# Submits a job command file to LoadLeveler: sh loadleveler.sh FILE TAG
#
# The tag is prepended to the comment of the file, written by rmctl or the user: rmctl finds the job by it, and
# llsubmit has no option for a comment. Notes of jobs in this folder (see loadleveler.xml) are removed after 60 days.

file=$1 tag=$2
comment='#[[:blank:]]*@[[:blank:]]*[Cc][Oo][Mm][Mm][Ee][Nn][Tt][[:blank:]]*'

cp -p "$file" "$file.marked" || exit 1 # keep its permissions
if grep -q "^$comment=" "$file"; then
	sed "s/^\($comment\)=[[:blank:]]*/\1= RMCTL_TAG=$tag /" "$file"
else
	sed -n '1{/^#!/p;}' "$file" && echo "# @ comment = RMCTL_TAG=$tag" && sed '1{/^#!/d;}' "$file"
fi >"$file.marked" && mv -f "$file.marked" "$file" || exit 1
find "${0%/*}" -type f -name '*.*[0-9]' -mtime +60 -exec rm -f {} ';'
exec llsubmit "$file"
