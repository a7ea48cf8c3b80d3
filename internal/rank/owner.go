package rank

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwn reports whether a process belongs to this user.
func isOwn(info fs.FileInfo) bool {
	status, known := info.Sys().(*syscall.Stat_t)
	return known && int(status.Uid) == os.Geteuid()
}
