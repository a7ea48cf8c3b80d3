package web

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/answer"
	"github.com/rmctl/rmctl/internal/web/webtest"
)

func TestTheTokenOpensASessionAndIsNotInTheAddressAfterwards(t *testing.T) {
	t.Parallel()
	b := serve(t, nil)
	response, body := b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	require.Contains(t, body, "open the URL that rmctl serve printed")

	response, _ = b.do(http.MethodGet, "/?token=wrong", nil, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)

	response, _ = b.do(http.MethodGet, b.start()+"&sort=name", nil, nil)
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
	require.Equal(t, "/?sort=name", response.Header.Get("Location"))
	require.Len(t, response.Cookies(), 1)
	cookie := response.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	require.NotContains(t, cookie.Value, b.server.access.token)
	_, port, _ := strings.Cut(strings.TrimPrefix(b.base, "http://"), ":")
	require.Contains(t, cookie.Name, port, "another server on this host has a cookie of its own")

	require.Contains(t, b.get("/"), "<h1>Targets</h1>")
}

func TestServersOfOneHostDoNotEndEachOthersSessions(t *testing.T) {
	t.Parallel()
	first := serve(t, nil).enter()
	second := serve(t, nil)
	second.client = first.client // one browser, which sends the cookies of a host to each of its ports
	second.enter()
	require.Contains(t, first.get("/"), "<h1>Targets</h1>")
	require.Contains(t, second.get("/"), "<h1>Targets</h1>")

	response, _ := second.do(http.MethodPost, "/logout", http.Header{"X-Csrf-Token": {second.csrf()}}, nil)
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
	require.Contains(t, first.get("/"), "<h1>Targets</h1>", "only the session of the other one has ended")
}

func TestTheWayOutOfTheStartAddressStaysOnThisServer(t *testing.T) {
	t.Parallel()
	b := serve(t, nil)
	response, _ := b.do(http.MethodGet, b.base+"//elsewhere.example/x?token="+b.server.access.token, nil, nil)
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
	require.Equal(t, "/elsewhere.example/x", response.Header.Get("Location"))
}

func TestProgramsSendTheTokenAsAHeader(t *testing.T) {
	t.Parallel()
	b := serve(t, nil)
	response, _ := b.do(http.MethodGet, "/", http.Header{"Authorization": {"Bearer " + b.server.access.token}}, nil)
	require.Equal(t, http.StatusOK, response.StatusCode)
	response, _ = b.do(http.MethodGet, "/", http.Header{"Authorization": {"Bearer wrong"}}, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
}

func TestChangesNeedTheTokenOfTheirSession(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	other := b.other().enter()
	for _, token := range []string{"", "wrong", other.csrf()} {
		response, body := b.do(http.MethodPost, "/logout", http.Header{"X-Csrf-Token": {token}}, nil)
		require.Equal(t, http.StatusForbidden, response.StatusCode, body)
	}
	require.NotEqual(t, b.csrf(), other.csrf())

	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	response, _ := b.do(http.MethodPost, "/logout", form, strings.NewReader(url.Values{"csrf": {b.csrf()}}.Encode()))
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
	response, _ = b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode, "the session has ended")
	require.NotEmpty(t, other.get("/"))
}

func TestTheEndOfASessionEndsItsStreams(t *testing.T) {
	t.Parallel()
	b := serve(t, with("alpha")).enter()
	other := b.other().enter()
	next := other.listen(other.eventsOf("/"), nil)
	views, journal := b.stream(b.eventsOf("/"), nil), b.stream(answer.APIPath+"/events", nil)
	response, _ := b.post("/logout", nil)
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
	for _, stream := range []*http.Response{views, journal} {
		_, err := io.ReadAll(stream.Body)
		require.NoError(t, err)
	}
	webtest.Put(b.model, "beta")
	require.Equal(t, "patch", next().Kind, "other sessions go on")
}

func TestASessionThatNobodyUsesEnds(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	now := time.Now()
	b.server.access.now = func() time.Time { return now }
	now = now.Add(sessionIdle - time.Minute)
	b.get("/")
	now = now.Add(sessionIdle - time.Minute)
	b.get("/")
	now = now.Add(sessionIdle + time.Minute)
	response, _ := b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode)
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	for range maxSessions {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.base, nil)
		require.NoError(t, err)
		b.server.access.open(discard{}, request)
	}
	require.Len(t, b.server.access.sessions, maxSessions)
	response, _ := b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, http.StatusUnauthorized, response.StatusCode, "the one that was not used for longest made room")
}

// discard is a response that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

func TestNamesThatLeadHereByDNSAreRefused(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example:8080", "192.0.2.1"} {
		response, body := b.do(http.MethodGet, "/", http.Header{"Host": {host}}, nil)
		require.Equal(t, http.StatusMisdirectedRequest, response.StatusCode, host)
		require.NotContains(t, body, "csrf", host)
	}
	for _, host := range []string{"localhost:9000", "127.0.0.1:9000", "[::1]:9000", "LOCALHOST"} {
		response, _ := b.do(http.MethodGet, "/", http.Header{"Host": {host}}, nil)
		require.NotEqual(t, http.StatusMisdirectedRequest, response.StatusCode, "%s is the near end of a tunnel", host)
	}
}

func TestOtherSitesMayLeadHereButNeitherReadNorChange(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	token := b.csrf()
	for _, site := range []string{"cross-site", "same-site"} {
		response, _ := b.do(http.MethodGet, "/", http.Header{"Sec-Fetch-Site": {site}, "Sec-Fetch-Mode": {"no-cors"}, "Sec-Fetch-Dest": {"script"}}, nil)
		require.Equal(t, http.StatusForbidden, response.StatusCode)
		response, _ = b.do(http.MethodGet, "/", http.Header{"Sec-Fetch-Site": {site}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}}, nil)
		require.Equal(t, http.StatusForbidden, response.StatusCode)
		response, _ = b.do(http.MethodGet, "/", http.Header{"Sec-Fetch-Site": {site}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}, nil)
		require.Equal(t, http.StatusOK, response.StatusCode)
		response, _ = b.do(http.MethodPost, "/logout", http.Header{"Sec-Fetch-Site": {site}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}, "X-Csrf-Token": {token}}, nil)
		require.Equal(t, http.StatusForbidden, response.StatusCode)
	}
	response, _ := b.do(http.MethodPost, "/logout", http.Header{"Origin": {"https://evil.example"}, "X-Csrf-Token": {token}}, nil)
	require.Equal(t, http.StatusForbidden, response.StatusCode, "a browser that sends Origin alone")
	response, _ = b.do(http.MethodPost, "/logout", http.Header{"Origin": {b.base}, "X-Csrf-Token": {token}}, nil)
	require.Equal(t, http.StatusSeeOther, response.StatusCode)
}

func TestPagesMayUseOnlyWhatThisServerHas(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	for _, address := range []string{"/", "/nowhere", "/static/live.js", "/events?view=none"} {
		response, _ := b.do(http.MethodGet, address, nil, nil)
		policy := response.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'", address)
		require.NotContains(t, policy, "unsafe", address)
		require.Contains(t, policy, "frame-ancestors 'none'", address)
		require.Contains(t, policy, "require-trusted-types-for 'script'", address)
		require.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), address)
	}
	response, body := b.do(http.MethodGet, "/", nil, nil)
	require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	require.NotRegexp(t, `<script>|<style|style="| on[a-z]+="`, body)
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	b := serve(t, nil).enter()
	form := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	response, _ := b.do(http.MethodPost, "/logout", form, strings.NewReader("csrf="+b.csrf()+"&x="+strings.Repeat("x", maxBodyBytes)))
	require.Equal(t, http.StatusForbidden, response.StatusCode, "a form that is too large is not read, nor is the token in it")
	response, _ = b.do(http.MethodGet, "/", http.Header{"X-Long": {strings.Repeat("x", 2*maxHeaderBytes)}}, nil)
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, response.StatusCode)
}
