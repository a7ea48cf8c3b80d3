package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheVersionIsThatOfTheTag(t *testing.T) {
	t.Parallel()
	platform := runtime.GOOS + "/" + runtime.GOARCH
	unknown := versionJSON{Version: "(devel)", Go: runtime.Version(), Platform: platform, System: platform}
	require.Equal(t, unknown, versionOf(nil))
	require.Equal(t, unknown, versionOf(&debug.BuildInfo{}))

	tagged := unknown
	tagged.Version, tagged.Revision, tagged.Time = "0.1.0", "35f6ca0ccc48", "2026-11-29T09:40:36Z"
	require.Equal(t, tagged, versionOf(&debug.BuildInfo{
		Main: debug.Module{Version: "v0.1.0"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "35f6ca0ccc48458b504501b1bc8c8297e9a2d036"},
			{Key: "vcs.time", Value: "2026-11-29T09:40:36Z"},
			{Key: "vcs.modified", Value: "false"},
		},
	}))

	changed := versionOf(&debug.BuildInfo{
		Main:     debug.Module{Version: "v0.1.1-0.20261129094036-35f6ca0ccc48+dirty"},
		Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}},
	})
	require.Equal(t, "0.1.1-0.20261129094036-35f6ca0ccc48+dirty", changed.Version)
	require.True(t, changed.Modified)
}
