package execution

// IsClosed reports whether a channel that nothing is sent on was closed.
func IsClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
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
