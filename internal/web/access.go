package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	sessionIdle = 24 * time.Hour // a session that was not used for so long ends
	maxSessions = 1000           // the one that was not used for longest ends first
)

// access decides who may use the server: clients with the token, and the sessions opened
// with it.
type access struct {
	token    string
	names    *x509.Certificate // has the names of the server beside those of loopback; nil without TLS
	tries    *tries
	now      func() time.Time
	mutex    sync.Mutex
	sessions map[[sha256.Size]byte]*session // by the hash of their cookie's value
}

// A session is one browser that is logged in.
type session struct {
	csrf  string
	used  time.Time
	lasts context.Context // ends with the session, and with it its requests
	end   context.CancelFunc
}

func newAccess(options Options) (*access, error) {
	a := &access{token: rand.Text(), now: time.Now, sessions: map[[sha256.Size]byte]*session{}}
	a.tries = newTries(func() time.Time { return a.now() })
	if options.TLS == nil {
		return a, nil
	}
	if len(options.TLS.Certificates) == 0 || len(options.TLS.Certificates[0].Certificate) == 0 {
		return nil, errors.New("TLS requires a certificate")
	}
	var err error
	if a.names, err = x509.ParseCertificate(options.TLS.Certificates[0].Certificate[0]); err != nil {
		return nil, fmt.Errorf("read the TLS certificate: %w", err)
	}
	return a, nil
}

// isToken reports whether text is the token, in constant time.
func (a *access) isToken(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(a.token)) == 1
}

// open starts a session and sets its cookie.
func (a *access) open(w http.ResponseWriter, r *http.Request) {
	value := rand.Text()
	a.mutex.Lock()
	a.dropIdle()
	lasts, end := context.WithCancel(context.Background())
	a.sessions[sha256.Sum256([]byte(value))] = &session{csrf: rand.Text(), used: a.now(), lasts: lasts, end: end}
	a.mutex.Unlock()
	cookie := a.cookie(r)
	cookie.Value = value
	http.SetCookie(w, cookie)
}

// dropIdle ends sessions that were not used for long, and makes room for one. a.mutex is
// held.
func (a *access) dropIdle() {
	var oldest [sha256.Size]byte
	var found *session
	for id, s := range a.sessions {
		if a.now().Sub(s.used) > sessionIdle {
			a.drop(id)
		} else if found == nil || s.used.Before(found.used) {
			oldest, found = id, s
		}
	}
	if len(a.sessions) >= maxSessions {
		a.drop(oldest)
	}
}

// drop ends a session, if there is one of that id. a.mutex is held.
func (a *access) drop(id [sha256.Size]byte) {
	if s, known := a.sessions[id]; known {
		s.end()
		delete(a.sessions, id)
	}
}

// end ends the session that a request belongs to.
func (a *access) end(w http.ResponseWriter, r *http.Request) {
	cookie := a.cookie(r)
	if sent, err := r.Cookie(cookie.Name); err == nil {
		a.mutex.Lock()
		a.drop(sha256.Sum256([]byte(sent.Value)))
		a.mutex.Unlock()
	}
	cookie.MaxAge = -1
	http.SetCookie(w, cookie)
}

// session returns the session that a request belongs to.
func (a *access) session(r *http.Request) (session, bool) {
	sent, err := r.Cookie(a.cookie(r).Name)
	if err != nil {
		return session{}, false
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	found, known := a.sessions[sha256.Sum256([]byte(sent.Value))]
	if !known || a.now().Sub(found.used) > sessionIdle {
		return session{}, false
	}
	found.used = a.now()
	return *found, true
}

// cookie returns a session's cookie without its value. Browsers share cookies between
// ports, so its name has the port: servers of one host keep each other's sessions.
func (a *access) cookie(r *http.Request) *http.Cookie {
	name := "rmctl"
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		name += "-" + port
	}
	if a.names != nil {
		name = "__Host-" + name
	}
	return &http.Cookie{Name: name, Path: "/", HttpOnly: true, Secure: a.names != nil, SameSite: http.SameSiteStrictMode}
}

// logout ends the session that a request belongs to.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	s.access.end(w, r)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return nil
}

// enter opens a session for a request with the token, and redirects to the address without
// it, which keeps the token out of the browser's history and bookmarks.
func (s *Server) enter(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	if r.Method != http.MethodGet || !s.access.isToken(query.Get("token")) {
		return false
	}
	s.access.open(w, r)
	query.Del("token")
	http.Redirect(w, r, (&url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: query.Encode()}).String(), http.StatusSeeOther)
	return true
}
