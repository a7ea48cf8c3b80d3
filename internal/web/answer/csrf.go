package answer

import (
	"context"
	"net/http"
)

type csrfKey struct{}

// CSRFOf returns the token that has to come with changes of the session that a
// request belongs to, empty where none is needed.
func CSRFOf(r *http.Request) string {
	token, _ := r.Context().Value(csrfKey{}).(string)
	return token
}

// WithCSRF returns a request of a session, whose pages carry its token.
func WithCSRF(r *http.Request, token string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), csrfKey{}, token))
}
