package daemon

// What only tests outside the package name.
const (
	LogName   = logName
	RingBytes = ringBytes
)

var (
	ErrSessionsLive = errSessionsLive
)
