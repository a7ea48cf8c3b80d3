package jobstore

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// isNetworkFileSystem reports whether other hosts may have the files of a
// directory open at the same time. Types are those of statfs(2) and of the
// file systems' own sources; home directories of clusters live on them.
func isNetworkFileSystem(directory string) (bool, error) {
	number, err := fileSystemType(directory)
	return isNetworkType(number), err
}

// isFUSE reports whether a directory is on FUSE, where the kernel caches files even while
// they are locked.
func isFUSE(directory string) (bool, error) {
	number, err := fileSystemType(directory)
	return uint32(number) == unix.FUSE_SUPER_MAGIC, err
}

func fileSystemType(directory string) (int64, error) {
	var status unix.Statfs_t
	if err := unix.Statfs(directory, &status); err != nil {
		return 0, fmt.Errorf("finding the file system of %q: %w", directory, err)
	}
	return int64(status.Type), nil
}

// isNetworkType compares types of file systems by their low 32 bits: whether
// the kernel's number comes as a signed one differs between architectures.
func isNetworkType(number int64) bool {
	switch uint32(number) {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC,
		unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC, unix.CEPH_SUPER_MAGIC, unix.CODA_SUPER_MAGIC,
		unix.NCP_SUPER_MAGIC, unix.V9FS_MAGIC, unix.OCFS2_SUPER_MAGIC,
		unix.FUSE_SUPER_MAGIC, // sshfs, GlusterFS and others; some are local, to no harm
		0x0BD00BD0,            // Lustre
		0x47504653,            // GPFS
		0x19830326,            // BeeGFS
		0x20030528,            // OrangeFS
		0x01161970,            // GFS2
		0xAAD7AAEA:            // Panasas
		return true
	}
	return false
}
