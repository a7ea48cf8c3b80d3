package ssh_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// x11Client is an X11 client made of bash: it finds its cookie with xauth, as all
// do, and prints what the display answers.
const x11Client = `number=${DISPLAY#*:}; number=${number%.*}
cookie=$(xauth list "$DISPLAY" | sed 's/.* //; s/../\\x&/g; q')
exec 3<>/dev/tcp/127.0.0.1/$((6000 + number))
printf "B\0\0\x0b\0\0\0\x12\0\x10\0\0MIT-MAGIC-COOKIE-1\0\0$cookie" >&3
cat <&3`

// A fakeDisplay answers clients that know its cookie.
type fakeDisplay struct {
	name, authority string // DISPLAY and XAUTHORITY
}

// showFakeDisplay serves a display until the test has ended.
func showFakeDisplay(t *testing.T) fakeDisplay {
	const cookie = "0123456789abcdef"
	folder := "/tmp/.X11-unix"
	if err := os.Mkdir(folder, 0o777); !errors.Is(err, os.ErrExist) {
		require.NoError(t, err)
		require.NoError(t, os.Chmod(folder, 0o777|os.ModeSticky))
	}
	var listener net.Listener
	number := 300
	for ; listener == nil; number++ {
		require.Less(t, number, 1000, "no display is free")
		listener, _ = net.Listen("unix", filepath.Join(folder, fmt.Sprintf("X%d", number)))
	}
	number--
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			// What a client sends first is 12 bytes, the name of the protocol with
			// its padding, and the cookie.
			packet := make([]byte, 12+20+len(cookie))
			answer := "who are you?"
			if _, err := io.ReadFull(client, packet); err == nil && string(packet[32:]) == cookie {
				answer = "welcome"
			}
			_, _ = io.WriteString(client, answer)
			_ = client.Close()
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, listener.Close())
		<-served
	})
	d := fakeDisplay{name: fmt.Sprintf(":%d", number), authority: filepath.Join(t.TempDir(), "authority")}
	added, err := exec.Command("xauth", "-f", d.authority, "add", d.name, "MIT-MAGIC-COOKIE-1", fmt.Sprintf("%x", cookie)).CombinedOutput()
	require.NoError(t, err, "%s", added)
	return d
}

// X11 programs of interactive jobs on another machine reach the user's display,
// as their definition asks for.
func TestX11OverSSH(t *testing.T) {
	t.Parallel()
	config := rmctltest.SSHD(t, "x11").Configuration
	refusing := rmctltest.SSHD(t, "no-x11", "RMCTL_SSHD_X11=no").Configuration
	display := showFakeDisplay(t)
	for _, transport := range []string{"ssh", "openssh"} {
		for _, environment := range []string{rmctltest.Background, rmctltest.Foreground} {
			t.Run(transport+" "+environment, func(t *testing.T) {
				d := rmctltest.NewDesk(t, interactive, environment)
				d.Reaches("far", "x11.xml", transport, "rmtest-target", config)
				require.Contains(t, d.Refused(exitScheduler, "run", "-t", "far", "--", "true"), "DISPLAY")

				// A connection that a login without a display has made is used by one that has one.
				d.Environment = append(d.Environment, "DISPLAY="+display.name, "XAUTHORITY="+display.authority)
				d.Reaches("plain", "fork", transport, "rmtest-target", config)
				d.Reaches("refusing", "x11.xml", transport, "rmtest-target", refusing)
				require.Equal(t, "welcome", d.Does("run", "-t", "far", "--", "bash", "-c", x11Client))
				require.Equal(t, "none", d.Does("run", "-t", "plain", "--", "sh", "-c", `echo "${DISPLAY:-none}"`), "nobody asked for it")

				said := d.Refused(exitScheduler, "run", "-t", "refusing", "--", "touch", filepath.Join(t.TempDir(), "ran"))
				require.Regexp(t, `the server( of \S+)? refuses (it|to forward X11) \(X11Forwarding\)`, said)
			})
		}
	}
}
