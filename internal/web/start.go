package web

import (
	"cmp"
	"crypto/x509"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// StartURL returns the URL with the token that opens a session. wanted is the host that the
// user named to listen on, bound what became of it.
func (s *Server) StartURL(wanted string, bound net.Addr) string {
	start := url.URL{Scheme: "http", Host: "localhost", Path: "/", RawQuery: url.Values{"token": {s.access.token}}.Encode()}
	if s.access.names != nil {
		start.Scheme = "https"
	}
	if tcp, isTCP := bound.(*net.TCPAddr); isTCP { // a unix socket is reached through a tunnel, whose port is unknown
		start.Host = net.JoinHostPort(s.host(wanted, tcp.IP), strconv.Itoa(tcp.Port))
	}
	return start.String()
}

// host returns the name in the URL of the server. Over TLS it is one of the certificate,
// if that has any that leads here: otherwise browsers refuse the server, or it them.
func (s *Server) host(wanted string, bound net.IP) string {
	here, err := os.Hostname()
	if err != nil {
		here = "localhost"
	}
	usual := bound.String()
	if bound.IsUnspecified() {
		usual = here
	}
	switch {
	case s.access.names == nil:
		return usual
	case bound.IsLoopback(): // other names lead elsewhere
		return cmp.Or(firstNameOf(s.access.names, wanted, usual, "localhost"), usual)
	}
	return cmp.Or(firstNameOf(s.access.names, wanted, usual, here), furtherNameOf(s.access.names, here), usual)
}

// firstNameOf returns the first of some names that a certificate has; empty if it has none.
func firstNameOf(certificate *x509.Certificate, names ...string) string {
	for _, name := range names {
		if name != "" && certificate.VerifyHostname(name) == nil {
			return name
		}
	}
	return ""
}

// furtherNameOf returns a name that a certificate has, where * stands for the name of this host;
// empty if it has none.
func furtherNameOf(certificate *x509.Certificate, here string) string {
	short, _, _ := strings.Cut(here, ".")
	for _, name := range certificate.DNSNames {
		name = strings.Replace(name, "*", short, 1)
		if certificate.VerifyHostname(name) == nil {
			return name
		}
	}
	if len(certificate.IPAddresses) > 0 {
		return certificate.IPAddresses[0].String()
	}
	return ""
}
