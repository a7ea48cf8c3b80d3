package xmltree

import "io/fs"

const (
	// FileDateLayout is the layout of the dates that files are compared with.
	FileDateLayout = "2006/01/02 15:04:05"
	// FileAttributePrefix begins the names of file attributes; it may be left out.
	FileAttributePrefix = "ATTRIBUTE_"
)

// PermissionBits are those attribute bits of the reference's file system that
// POSIX knows as permissions.
var PermissionBits = map[string]fs.FileMode{
	"OWNER_READ": 0o400, "OWNER_WRITE": 0o200, "OWNER_EXECUTE": 0o100,
	"GROUP_READ": 0o040, "GROUP_WRITE": 0o020, "GROUP_EXECUTE": 0o010,
	"OTHER_READ": 0o004, "OTHER_WRITE": 0o002, "OTHER_EXECUTE": 0o001,
	"EXECUTABLE": 0o100, // for the owner
}
