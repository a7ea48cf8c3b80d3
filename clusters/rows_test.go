package clusters_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/command"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/internal/rmctltest"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/openssh"
	"github.com/rmctl/rmctl/remote/ssh"
)

// A listing of another machine, which prints on only after its first row was taken
// here, and then a row of 10 MB.
func TestRowsComeOverSSHWhileTheListingPrints(t *testing.T) {
	t.Parallel()
	configuration := rmctltest.SSHD(t, "rows").Configuration
	for transport, connect := range map[string]func(context.Context) (remote.Connection, error){
		"ssh": func(ctx context.Context) (remote.Connection, error) {
			return ssh.Connect(ctx, ssh.Options{Host: "rmtest-target", ConfigFile: configuration})
		},
		"openssh": func(ctx context.Context) (remote.Connection, error) {
			return openssh.Connect(ctx, openssh.Options{Host: "rmtest-behind", ConfigFile: configuration})
		},
	} {
		t.Run(transport, func(t *testing.T) {
			folder, err := os.MkdirTemp("", "rmctl-rows-")
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
			require.NoError(t, os.Chmod(folder, 0o755)) // for the user there
			taken := filepath.Join(folder, "taken")
			require.NoError(t, syscall.Mkfifo(taken, 0o600))
			require.NoError(t, os.Chmod(taken, 0o644))
			definition, problems := check.Load("rows.xml", fmt.Appendf(nil, `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="rows">
				<monitor-data schedulerType="ROWS"><x:list-nodes name="list" x:timeout="5m"><arg>sh -c</arg>
					<arg resolve="false">'echo "first UP -"; read -r line &lt;%s; printf "second DOWN %%0.10485760d\n" 0; echo "third UP -"'</arg>
					<stdout-parser delim="\n"><target><match><expression>(\w+) (\w+) (.+)</expression><set field="name"><entry valueGroup="1"/></set>
						<put field="value"><entry key="state" valueGroup="2"/><entry key="reason" valueGroup="3"/></put></match></target></stdout-parser>
				</x:list-nodes></monitor-data></resource-manager-builder>`, taken), nil)
			require.NoError(t, problems.Err())
			connection, err := connect(t.Context())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, connection.Close()) })
			store, err := jobstore.Open(t.Context(), t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, store.Close()) })
			controller := control.New(control.Options{Target: "there", Definition: definition, Connection: connection, Store: store})
			var names []string
			longest := 0
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			listed, err := controller.Rows(ctx, config.ListNodes, "", func(row command.Row) error {
				names = append(names, row.ID)
				longest = max(longest, len(row.Fact("reason")))
				if row.ID == "first" {
					return os.WriteFile(taken, []byte("taken\n"), 0)
				}
				return nil
			})
			require.NoError(t, err)
			require.Equal(t, []string{"first", "second", "third"}, names)
			require.Equal(t, command.Listed{Rows: 3}, listed)
			require.Equal(t, 10<<20, longest)
		})
	}
}
