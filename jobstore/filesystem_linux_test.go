package jobstore

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOtherFileSystemsAreNotTakenForFUSE(t *testing.T) {
	t.Parallel()
	found, err := isFUSE("/proc")
	require.NoError(t, err)
	require.False(t, found)
	_, err = isFUSE("/absent")
	require.ErrorContains(t, err, `finding the file system of "/absent"`)
}

func TestNetworkFileSystemsAreRecognized(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		number  int64
		network bool
	}{
		"nfs":                     {0x6969, true},
		"lustre":                  {0x0BD00BD0, true},
		"gpfs":                    {0x47504653, true},
		"cifs":                    {0xFF534D42, true},
		"cifs as a signed number": {-0xACB2BE, true},
		"ext4":                    {0xEF53, false},
		"xfs":                     {0x58465342, false},
		"tmpfs":                   {0x01021994, false},
		"btrfs":                   {0x9123683E, false},
	} {
		require.Equal(t, c.network, isNetworkType(c.number), name)
	}
}
