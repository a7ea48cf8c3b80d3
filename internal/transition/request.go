package transition

import "strings"

const (
	isRequested = " requested"
	isAwaited   = ", waiting for confirmation"
)

// Requested returns why a job is stale after its scheduler accepted an operation.
func Requested(operation string) string { return operation + isRequested + isAwaited }

// Request returns which operation was requested if that is the reason why a job is stale, such
// as "hold requested"; empty otherwise.
func Request(reason string) string {
	request, isRequest := strings.CutSuffix(reason, isAwaited)
	if !isRequest || !strings.HasSuffix(request, isRequested) {
		return ""
	}
	return request
}
