package doctor_test

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/doctor"
	"github.com/rmctl/rmctl/remote"
)

const stagingInPlace = `<managed-files><file-staging-location>place</file-staging-location><file name="a"><contents>b</contents></file></managed-files>` + submittingAndAsking

// An unprivileged connection runs commands as a user to whom permissions apply.
type unprivileged struct{ remote.Connection }

const nobody = "65534"

func (u unprivileged) Start(ctx context.Context, c remote.Command) (remote.Handle, error) {
	if os.Geteuid() == 0 {
		c.Arguments = append([]string{"setpriv", "--reuid=" + nobody, "--regid=" + nobody, "--clear-groups"}, c.Arguments...)
	}
	return u.Connection.Start(ctx, c)
}

func TestAStagingPlaceThatMayNotBeWrittenToIsFound(t *testing.T) {
	if _, err := exec.LookPath("setpriv"); err != nil && os.Geteuid() == 0 {
		t.Skipf("root may write everywhere, and there is no setpriv to be somebody else: %v", err)
	}
	s := newSite(t, define(t, stagingInPlace), changing(func(c remote.Connection) remote.Connection { return unprivileged{c} }))
	for folder := s.home; folder != filepath.Clean(os.TempDir()) && folder != "/"; folder = filepath.Dir(folder) {
		require.NoError(t, os.Chmod(folder, 0o755)) // so that another user gets there
	}
	place := s.path("place")
	require.NoError(t, os.Mkdir(place, 0o755))
	require.NoError(t, os.Chmod(place, 0o555))
	finding := examined(t, s, "staging")
	require.Equal(t, doctor.Problem, finding.Verdict, finding.Seen)
	require.Equal(t, place+": you cannot write to "+place, finding.Seen)
	require.Equal(t, "files cannot be staged, so jobs cannot be submitted", finding.Impact)
	require.Contains(t, finding.Fix, "chmod u+w "+place)

	require.NoError(t, os.Remove(place))
	require.NoError(t, os.Chmod(s.home, 0o555))
	t.Cleanup(func() { require.NoError(t, os.Chmod(s.home, 0o755)) })
	finding = examined(t, s, "staging")
	require.Equal(t, doctor.Problem, finding.Verdict, finding.Seen)
	require.Equal(t, place+": you cannot write to "+s.home, finding.Seen, "it cannot be made either")
}

// A secretive connection lets nobody look at a folder.
type secretive struct {
	remote.Connection
	path string
}

func (r secretive) Stat(ctx context.Context, path string) (fs.FileInfo, error) {
	if path == r.path {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrPermission}
	}
	return r.Connection.Stat(ctx, path)
}

func TestAStagingPlaceThatMayNotBeLookedAtIsFound(t *testing.T) {
	s := newSite(t, define(t, stagingInPlace))
	refused := secretive{s.options.Connection, s.path("place")}
	s.options.Connection = refused
	finding := examined(t, s, "staging")
	require.Equal(t, doctor.Problem, finding.Verdict)
	require.Contains(t, finding.Seen, refused.path)
	require.Contains(t, finding.Seen, "permission denied")
}
