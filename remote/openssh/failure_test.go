package openssh

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each file of testdata/said is what a real ssh, or where its name begins with
// "source-" its source, prints as it fails; its first line is the reason.
func TestMessagesOfSSHGiveTheReason(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "said", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			reason, text, _ := strings.Cut(string(content), "\n")
			require.Equal(t, reason, string(classify(text)))
		})
	}
}

// The recordings of another project, where they are at hand.
func TestEarlierMessagesOfSSHGiveTheReason(t *testing.T) {
	shared := os.Getenv("RMCTL_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	for name, reason := range map[string]string{
		"err-no-key": "not-authenticated", "err-no-such-user": "not-authenticated", "err-user-not-allowed": "not-authenticated",
		"err-refused": "refused", "err-unknown-host-key": "unknown-host-key", "err-unresolvable": "unknown-host",
		"remote-killed": "", "exit7": "", "no-such-command": "",
	} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(shared, "captures", "ssh", name, "stderr"))
			if os.IsNotExist(err) {
				t.Skip("the recordings are not part of this project")
			}
			require.NoError(t, err)
			require.Equal(t, reason, string(classify(string(content))))
		})
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte("debug1: mux_client_request_session: master session id: 2\r\nPermission denied (publickey).\r\n"))
	f.Add([]byte(strings.Repeat("x", 3*longestLine) + "\ndebug2: Received exit status from master 255\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "said")
		m, err := listen(path)
		require.NoError(t, err)
		writer, err := os.OpenFile(path, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = writer.Write(data)
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		require.NoError(t, m.finish())
		require.LessOrEqual(t, len(m.text.String()), keptText)
		_ = lastLines(m.text.String())
		_ = classify(m.text.String())
		require.NoFileExists(t, path)
	})
}
