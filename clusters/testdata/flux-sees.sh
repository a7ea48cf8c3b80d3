# flux-sees.sh WORD JOB: waits until flux jobs shows this status of a job, then until rmctl
# does, and prints what rmctl makes of it.
end=$(($(date +%s) + 300))
in_time() {
    [ "$(date +%s)" -lt "$end" ] || { echo "job $2 is not $1: $3" >&2; exit 1; }
    sleep 0.3
}
until [ "$(flux jobs -n -o '{status}' "$2")" = "$1" ]; do in_time "$1" "$2" "$(flux jobs -n "$2")"; done
until rmctl status --json --fresh "$2" >seen && ! grep -q '"stale":true' seen && grep -q "\"native\":\"$1\"" seen; do
    in_time "$1" "$2" "$(cat seen)"
done
cat seen
