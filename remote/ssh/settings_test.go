package ssh

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each file of testdata/settings means the same to the ssh program and to what
// stands in for it. Its first line names the hosts.
func TestFilesMeanTheSameAsToTheProgram(t *testing.T) {
	if _, found := findProgram(Options{}); !found {
		t.Skip("needs the ssh program")
	}
	t.Setenv("SSH_AUTH_SOCK", "/agent/socket")
	paths, err := filepath.Glob(filepath.Join("testdata", "settings", "*.conf"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			first, _, _ := strings.Cut(string(content), "\n")
			for _, host := range strings.Fields(strings.TrimPrefix(first, "#")) {
				to := parseDestination(host, false)
				reported, err := readSettings(t.Context(), Options{ConfigFile: path}, to)
				require.NoError(t, err)
				read, err := readSettings(t.Context(), Options{ConfigFile: path, Program: "none"}, to)
				require.NoError(t, err)
				for _, s := range []*settings{&reported, &read} {
					// Defaults of the program stand here in x/crypto and in Debian's build.
					s.ciphers, s.macs, s.keyExchanges, s.hostKeyAlgorithms, s.publicKeyKinds = nil, nil, nil, nil, nil
					s.gssapi, s.hashKnownHosts, s.xauth = false, false, ""
				}
				require.Equal(t, reported, read, host)
			}
		})
	}
}

func TestSettingsOfAJumpHostCanBeGiven(t *testing.T) {
	for _, program := range []string{"", "none"} {
		s, err := readSettings(t.Context(), Options{Program: program, ConfigFile: "/dev/null"}, destination{host: "jump", user: "bob", port: 2222})
		require.NoError(t, err)
		require.Equal(t, "bob jump:2222", s.user+" "+s.address())
	}
}

func TestDefaultsAreThoseOfThisProgram(t *testing.T) {
	for _, program := range []string{"", "none"} {
		s, err := readSettings(t.Context(), Options{Program: program, ConfigFile: "/dev/null"}, destination{host: "place"})
		require.NoError(t, err)
		require.Equal(t, 15*time.Second, s.connectTimeout)
		require.Equal(t, 30*time.Second, s.aliveInterval)
		require.Equal(t, 3, s.aliveCount)
		require.Empty(t, s.forwardAgent)
		require.Equal(t, "ask", s.strictHostKeyCheck)
	}
}

func TestWhatCannotBeHonouredIsAnError(t *testing.T) {
	p := newPlace(t)
	for content, says := range map[string]string{
		"Match exec true\nUser eve\n":                  "Match Exec is not supported",
		"Match user bob\nUser eve\n":                   "unsupported Match criterion",
		"Ciphers +aes128-cbc\n":                        "changes a default: this requires the ssh program",
		"Port 99999\n":                                 "invalid port 99999 in ssh_config",
		"Port x\n":                                     "is not a number",
		"ConnectTimeout 1y\n":                          "is not a time",
		"ConnectTimeout 99999999999999999999\n":        "is not a time",
		"ConnectTimeout 9999999w\n":                    "too long",
		"IdentityFile /x/%Z\n":                         "has the unsupported token %Z",
		"IdentityFile /x/%\n":                          "ends with an incomplete token",
		"IdentityFile /x/${RMCTL_NOT_SET}\n":           "names a variable that is not set",
		"ProxyCommand nc %q\n":                         "has the unsupported token %q",
		"Include " + p.path("config") + "\nUser bob\n": "max recurse depth",
	} {
		p.write("config", content)
		_, err := readSettings(t.Context(), Options{Program: "none", ConfigFile: p.path("config")}, destination{host: "place"})
		require.ErrorContains(t, err, says, content)
	}
	_, err := readSettings(t.Context(), Options{Program: "none", ConfigFile: p.path("absent")}, destination{host: "place"})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestTheProgramSaysWhatIsWrongWithTheConfiguration(t *testing.T) {
	if _, found := findProgram(Options{}); !found {
		t.Skip("needs the ssh program")
	}
	p := newPlace(t)
	_, err := readSettings(t.Context(), Options{ConfigFile: p.write("config", "Nonsense yes\n")}, destination{host: "place"})
	require.ErrorContains(t, err, "Bad configuration option: nonsense")
}

func TestNamesThatWouldBecomeOptionsOrCommandsAreRefused(t *testing.T) {
	for _, host := range []string{"", "-v", "a b", "a\nb", "$(id)", "a;b", "`id`", "a\x00", "*"} {
		_, err := dial(t.Context(), Options{Host: host})
		require.Error(t, err, "%q", host)
	}
}

func TestTheLastJumpHostComesFirst(t *testing.T) {
	for written, want := range map[string]struct {
		before string
		last   destination
	}{
		"jump":                    {"", destination{host: "jump"}},
		"a,bob@jump:2222":         {"a", destination{host: "jump", user: "bob", port: 2222}},
		"a, b ,ssh://x@jump:2222": {"a, b ", destination{host: "jump", user: "x", port: 2222}},
		"[::1]:22":                {"", destination{host: "::1", port: 22}},
		"::1":                     {"", destination{host: "::1"}},
	} {
		before, last, err := lastJump(written)
		require.NoError(t, err)
		require.Equal(t, want.before, before)
		require.Equal(t, want.last, last)
	}
	for _, written := range []string{"a,", "a,-b", "a;b", "ssh://$(id)@b"} {
		_, _, err := lastJump(written)
		require.Error(t, err, written)
	}
}

func FuzzSettings(f *testing.F) {
	for _, content := range []string{
		"Host place\nPort 22\nProxyCommand nc %h %p\n", "connecttimeout 1m\nidentityfile ~/x\n", "Match host place\nUser \"a b\"\n",
		"setenv A=1 B=\"2\"\nidentityagent $X\n", "proxyjump a,b@c:1\n", "Include /dev/null\n",
	} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		account := &user.User{Uid: "1000", Username: "alice", HomeDir: "/home/alice"}
		to := destination{host: "place"}
		_, _ = newSettings(parsePrinted(content), to, account)
		// What is included are files of this machine, which are none of a test's business.
		if strings.Contains(strings.ToLower(content), "include") {
			return
		}
		config, err := parseFile("file", []byte(content))
		if err != nil {
			return
		}
		read := values{}
		if read.add(config, "place") != nil {
			return
		}
		s, err := newSettings(read, to, account)
		if err == nil {
			require.NotEmpty(t, s.user)
			require.NotZero(t, s.port)
			_, _, _ = lastJump(s.proxyJump)
		}
	})
}
