# sees.sh LETTER[,HOLDS] JOB: waits until qstat shows this state of a job, and these types of
# hold, then until rmctl, which may know an older answer, does, and prints what that makes of it.
end=$(($(date +%s) + 120))
in_time() {
    [ "$(date +%s)" -lt "$end" ] || { echo "job $2 is not $1: $3" >&2; exit 1; }
    sleep 0.5
}
# A server that keeps no history answers qstat -x with no job.
record() { qstat -f -w "$1" 2>/dev/null || qstat -x -f -w "$1"; }
shown() {
    case $1 in
    *,*) record "$2" | sed -n 's/^    job_state = //p; s/^    Hold_Types = /,/p' | tr -d '\n' ;;
    *) record "$2" | sed -n 's/^    job_state = //p' ;;
    esac
}
until [ "$(shown "$1" "$2")" = "$1" ]; do in_time "$1" "$2" "$(shown "$1" "$2")"; done
# The record of a job that has ended stays as it was observed.
observed() { [ "$(sed -n 's/.*"observed":"\([^".Z]*\).*/\1/p' seen | tr -d :T-)" -ge "$now" ]; }
case $1 in *,*) now=$(date -u +%Y%m%d%H%M%S) ;; *) now=0 ;; esac
until rmctl status --json --fresh -t pbs "$2" >seen && ! grep -q '"stale":true' seen && grep -q "\"native\":\"${1%,*}\"" seen && observed; do
    in_time "$1" "$2" "$(cat seen)"
done
cat seen
