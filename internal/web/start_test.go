package web

import (
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheStartAddressHasANameThatTheServerAccepts(t *testing.T) {
	t.Parallel()
	here, err := os.Hostname()
	require.NoError(t, err)
	everywhere := &net.TCPAddr{IP: net.IPv6unspecified, Port: 8443}
	for _, c := range []struct {
		certified, wanted string
		bound             net.Addr
		want              string
	}{
		{"", "", everywhere, "http://" + here + ":8443/"},
		{"", "127.0.0.1", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "http://127.0.0.1:80/"},
		{"", "", &net.UnixAddr{Name: "/x"}, "http://localhost/"},
		{"cluster.example", "", everywhere, "https://cluster.example:8443/"},
		{"cluster.example", "login", &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8443}, "https://cluster.example:8443/"},
		{"*.cluster.example", "", everywhere, "https://" + strings.Split(here, ".")[0] + ".cluster.example:8443/"},
		{here, "", everywhere, "https://" + here + ":8443/"},
		{"cluster.example", "127.0.0.1", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8443}, "https://127.0.0.1:8443/"},
		{"localhost", "localhost", &net.TCPAddr{IP: net.IPv6loopback, Port: 8443}, "https://localhost:8443/"},
	} {
		options := testPlatform(t)
		if c.certified != "" {
			options.TLS, _ = certificate(t, c.certified)
		}
		server := options.server(t)
		address := server.StartURL(c.wanted, c.bound)
		require.True(t, strings.HasPrefix(address, c.want+"?token="), "%s for %v", address, c)
		if c.certified != "" {
			host, _, _ := strings.Cut(strings.TrimPrefix(address, "https://"), "/")
			require.True(t, server.hostAllowed(host), host)
		}
		require.NoError(t, server.Close())
	}
}

// The browser sends no cookie with a request that a link of another site made.
func TestALinkOfAnotherSiteIsOpenedFromAPageOfThisServer(t *testing.T) {
	t.Parallel()
	b := serve(t, nil)
	elsewhere := http.Header{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
	response, page := b.do(http.MethodGet, "/jobs?q=a%22b", elsewhere, nil)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Contains(t, page, `<meta http-equiv="refresh" content="0; url=/jobs?q=a%22b">`)
	require.NotContains(t, page, "csrf")
	response, _ = b.do(http.MethodGet, "/jobs", http.Header{"Sec-Fetch-Site": {"same-origin"}}, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode, "once only")
	response, _ = b.do(http.MethodPost, "/jobs/operate", elsewhere, nil)
	require.Equal(t, http.StatusForbidden, response.StatusCode)
}

func TestTheStartAddressWorksFromALinkOfAnotherSite(t *testing.T) {
	b := startBrowser(t)
	server := serve(t, nil)
	w := b.opens(t, "data:text/html,<a href='"+server.start()+"'>rmctl</a>")
	w.clicks("rmctl")
	w.shows("Targets")
	require.Equal(t, server.base+"/", w.eval("location.href"))
}
