package answer

import (
	"context"
	"net/http"
)

type csrfKey struct{}

// CSRFOf returns the CSRF token of the session of a request, empty if it needs none.
func CSRFOf(r *http.Request) string {
	token, _ := r.Context().Value(csrfKey{}).(string)
	return token
}

// WithCSRF returns the request with the CSRF token of its session.
func WithCSRF(r *http.Request, token string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), csrfKey{}, token))
}
