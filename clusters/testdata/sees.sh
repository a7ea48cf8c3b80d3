# sees.sh LETTERS JOB: waits until qstat shows these letters for a job, or, where
# they are "ended" or "gone", until accounting has it or it has left the queue,
# and prints what rmctl makes of it then. rmctl asks the less often the longer an
# answer takes, which is long while other suites run: meanwhile it tells what it saw last.
end=$(($(date +%s) + 100))
shown() { qstat -u '*' | awk -v job="$2" -v letters="$1" '$1 == job && (letters == "" || $5 == letters) { found = 1 } END { exit !found }'; }
reached() {
    case $1 in
    gone) ! shown "" "$2" ;;
    ended) ! shown "" "$2" && qacct -j "$2" >/dev/null 2>&1 ;;
    *) shown "$1" "$2" ;;
    esac
}
in_time() {
    [ "$(date +%s)" -lt "$end" ] || { echo "$2 is not $1" >&2; exit 1; }
    sleep 0.3
}
until reached "$@"; do in_time "$@"; done
case $1 in ended | gone) word='"state":"COMPLETED"' ;; *) word='"native":"[^"]*'$1 ;; esac
until rmctl status --json --fresh "$2" >seen && ! grep -q '"stale":true' seen && grep -q "$word" seen; do
    in_time "$1 to rmctl: $(cat seen)" "$2"
done
cat seen
