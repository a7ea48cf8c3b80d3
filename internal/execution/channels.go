package execution

import "time"

// IsClosed reports whether a channel that nothing is sent on was closed.
func IsClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// ClosesWithin waits until a channel is closed, and reports whether it was in time.
func ClosesWithin(channel <-chan struct{}, limit time.Duration) bool {
	select {
	case <-channel:
		return true
	case <-time.After(limit):
		return false
	}
}

// Offer sends a value unless the receiver has no room for it.
func Offer[V any](receiver chan<- V, value V) {
	select {
	case receiver <- value:
	default:
	}
}
