package web

import (
	"context"
	"net"
	"net/http"
	"strings"

	"github.com/rmctl/rmctl/internal/web/answer"
)

// contentSecurity limits pages to the server's own files: no inline script or style, no
// frame around a page, no form to another site. Only the policy "live" of live.js may add
// HTML to a page.
const contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types live"

// guarded returns a handler that passes authorized requests to next. Static files and the
// login need no session.
func (s *Server) guarded(next http.Handler) http.Handler {
	origins := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
		w = answer.Accepting(w, r)
		if !s.hostAllowed(r.Host) {
			s.fail(w, r, answer.Errorf(http.StatusMisdirectedRequest, "unknown host %q: use the URL that rmctl serve printed", r.Host))
			return
		}
		if !isOwnOrNavigation(r) {
			s.fail(w, r, answer.Errorf(http.StatusForbidden, "request from another site refused"))
			return
		}
		if err := origins.Check(r); err != nil {
			s.fail(w, r, answer.Errorf(http.StatusForbidden, "request from another site refused: %w", err))
			return
		}
		if strings.HasPrefix(r.URL.Path, "/static/") || r.URL.Path == loginPath {
			next.ServeHTTP(w, r)
			return
		}
		if s.enter(w, r) {
			return
		}
		if s.access.isToken(bearerToken(r)) {
			next.ServeHTTP(w, r) // no other site can have caused the request: browsers do not send this header by themselves
			return
		}
		session, known := s.access.session(r)
		if !known && isFromElsewhere(r) {
			s.options.Pages.Reopen(w, r) // from this page, the browser sends the cookie if it has one
			return
		}
		if !known {
			s.refuse(w, r)
			return
		}
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		defer context.AfterFunc(session.lasts, stop)()
		r = answer.WithCSRF(r.WithContext(ctx), session.csrf)
		if isChange(r) && !answer.IsCSRF(sentCSRF(r), session.csrf) {
			s.fail(w, r, answer.Errorf(http.StatusForbidden, "this page belongs to another session; reload it"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// bearerToken returns the token in the Authorization header of a request. The name of the
// scheme may be in any case.
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimLeft(token, " ")
}

func setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurity)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms would send no usable Origin
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	h.Set("Cache-Control", "no-store")
}

// hostAllowed reports whether a request's Host names this server. It resolves no name: an
// attacker's DNS may point any name here. It ignores the port: a tunnel has another one.
func (s *Server) hostAllowed(host string) bool {
	name := host
	if without, _, err := net.SplitHostPort(host); err == nil {
		name = without
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if strings.EqualFold(name, "localhost") {
		return true
	}
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() {
		return true
	}
	return s.access.names != nil && s.access.names.VerifyHostname(name) == nil
}

// refuse answers a request without a session.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request) {
	err := answer.Errorf(http.StatusUnauthorized, "open the URL that rmctl serve printed, which contains an access token; programs send it as Authorization: Bearer TOKEN")
	if s.options.Passwords == nil || isForPrograms(r) {
		s.fail(w, r, err)
		return
	}
	s.options.Pages.Login(w, r, http.StatusUnauthorized, "")
}

// isOwnOrNavigation reports whether the server's own pages sent a request, or a browser
// follows a link: other sites may link to pages, but neither embed nor fetch them.
func isOwnOrNavigation(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// isFromElsewhere reports whether a browser follows a link of another site. It sends no cookie
// of this server then.
func isFromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		return r.Method == http.MethodGet && !isForPrograms(r)
	}
	return false
}

// isChange reports whether a request may change something.
func isChange(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead
}

// sentCSRF returns the CSRF token of a request: the header, else the field "csrf" of a
// form.
func sentCSRF(r *http.Request) string {
	if token := r.Header.Get("X-CSRF-Token"); token != "" {
		return token
	}
	return r.PostFormValue("csrf")
}
