package answer

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATokenDiffersOnEachPage(t *testing.T) {
	const session = "QWERTYUIOPASDFGHJKLZXCVBNM"
	r := WithCSRF(httptest.NewRequest(http.MethodGet, "/", nil), session)
	first, second := CSRFOf(r), CSRFOf(r)
	require.NotEqual(t, first, second, "what is compressed with it says nothing about it")
	require.True(t, IsCSRF(first, session))
	require.True(t, IsCSRF(second, session))
	for _, wrong := range []string{"", session, first[2:], strings.Repeat("0", len(first)), first[:len(first)-2] + "zz", first[:len(first)-4] + second[len(second)-4:]} {
		require.False(t, IsCSRF(wrong, session), wrong)
	}
	require.Empty(t, CSRFOf(httptest.NewRequest(http.MethodGet, "/", nil)))
}

func TestAnswersAreCompressedForWhoTakesThat(t *testing.T) {
	long := []byte(strings.Repeat("job ", 1000))
	for accepted, isCompressed := range map[string]bool{"gzip": true, "br, gzip;q=0.5": true, "": false, "br": false, "gzip; q=0": false} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept-Encoding", accepted)
		recorded := httptest.NewRecorder()
		Send(Accepting(recorded, r), http.StatusOK, "text/plain", long)
		require.Equal(t, "Accept-Encoding", recorded.Header().Get("Vary"))
		body := recorded.Body.Bytes()
		if isCompressed {
			require.Equal(t, "gzip", recorded.Header().Get("Content-Encoding"), accepted)
			require.Less(t, len(body), len(long)/10)
			reader, err := gzip.NewReader(recorded.Body)
			require.NoError(t, err)
			body, err = io.ReadAll(reader)
			require.NoError(t, err)
		}
		require.Equal(t, long, body, accepted)
	}
	short := httptest.NewRecorder()
	Send(gzipWriter{short}, http.StatusOK, "text/plain", []byte("job"))
	require.Equal(t, "job", short.Body.String())
}
