# sees.sh LETTERS JOB [followed|aside]: waits until qstat shows these letters for a job, or,
# where they are "ended" or "gone", until accounting has it or it has left the queue,
# and prints what rmctl makes of it then. rmctl queries less often the longer an
# answer takes, and on a busy machine that is long: meanwhile it reports what it saw last.
# So the end comes from the record of the script, and elsewhere only where its job is
# to be followed; a record of its own, which owes the scheduler nothing, sees it as well,
# and the end, too, in scripts that await several ones.
end=$(($(date +%s) + 900))
case $1 in
ended | gone) word='"state":"COMPLETED"' ;;
*) word='"native":"[^"]*'$1 ;;
esac
case $1,$3 in
ended, | gone, | *,followed) record= ;;
*) record="--state-dir $WORK/seen.$$ -t gridengine" ;;
esac
shown() { qstat -u '*' | awk -v job="$2" -v letters="$1" '$1 == job && (letters == "" || $5 == letters) { found = 1 } END { exit !found }'; }
reached() {
    case $1 in
    gone) ! shown "" "$2" ;;
    ended) ! shown "" "$2" && qacct -j "$2" >/dev/null 2>&1 ;;
    *) shown "$1" "$2" ;;
    esac
}
in_time() { # STATE JOB PAUSE
    [ "$(date +%s)" -lt "$end" ] || { echo "$2 is not $1" >&2; exit 1; }
    sleep "$3"
}
until reached "$1" "$2"; do in_time "$1" "$2" 0.3; done
# shellcheck disable=SC2086 # options
until rmctl status --json --fresh $record "$2" >seen && ! grep -q '"stale":true' seen && grep -q "$word" seen; do
    in_time "$1 to rmctl: $(cat seen)" "$2" 1
done
cat seen
