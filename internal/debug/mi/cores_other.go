//go:build !linux

package mi

// withoutCore needs a call that only Linux has.
func withoutCore(int) {}
