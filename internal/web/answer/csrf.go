package answer

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
)

type csrfKey struct{}

// CSRFOf returns the CSRF token of the session of a request, empty if it needs none. It
// differs each time: pages are compressed together with texts that others choose, and the
// length of a page must not show what these have in common with the token.
func CSRFOf(r *http.Request) string {
	token, _ := r.Context().Value(csrfKey{}).(string)
	if token == "" {
		return ""
	}
	mask := make([]byte, len(token))
	_, _ = rand.Read(mask) // never fails
	return hex.EncodeToString(append(mask, xored([]byte(token), mask)...))
}

// IsCSRF reports whether a text is a token that CSRFOf returned for a session.
func IsCSRF(sent, session string) bool {
	masked, err := hex.DecodeString(sent)
	if err != nil || len(masked) != 2*len(session) {
		return false
	}
	mask, rest := masked[:len(session)], masked[len(session):]
	return subtle.ConstantTimeCompare(xored(rest, mask), []byte(session)) == 1
}

// xored returns a text with the bits of a mask of the same length turned.
func xored(text, mask []byte) []byte {
	result := make([]byte, len(text))
	subtle.XORBytes(result, text, mask)
	return result
}

// WithCSRF returns the request with the CSRF token of its session.
func WithCSRF(r *http.Request, token string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), csrfKey{}, token))
}
