package ssh

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// knownHosts are the lines of known_hosts files. Package knownhosts rejects a whole file
// for one invalid line, which OpenSSH skips.
type knownHosts []knownLine

type knownLine struct {
	file     string
	number   int // from 1
	marker   string
	patterns []string
	key      ssh.PublicKey
}

const (
	markerAuthority = "cert-authority"
	markerRevoked   = "revoked"
	maxKnownBytes   = 16 << 20
)

// readKnownHosts reads those of the files that exist. An unreadable file is an error,
// because it may revoke keys.
func readKnownHosts(files []string) (knownHosts, error) {
	var known knownHosts
	for _, name := range files {
		file, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading known hosts: %w", err)
		}
		content, err := io.ReadAll(io.LimitReader(file, maxKnownBytes+1))
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("reading known hosts: %w", err)
		}
		if len(content) > maxKnownBytes {
			return nil, fmt.Errorf("reading known hosts: %s is longer than %d bytes", name, maxKnownBytes)
		}
		known = append(known, parseKnownHosts(name, content)...)
	}
	return known, nil
}

func parseKnownHosts(file string, content []byte) knownHosts {
	var known knownHosts
	for index, line := range bytes.Split(content, []byte("\n")) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		marker, patterns, key, _, _, err := ssh.ParseKnownHosts(line)
		if err != nil || marker != "" && marker != markerAuthority && marker != markerRevoked {
			continue
		}
		known = append(known, knownLine{file, index + 1, marker, patterns, key})
	}
	return known
}

// place returns the file and line number.
func (l knownLine) place() string { return l.file + ":" + strconv.Itoa(l.number) }

// matches reports whether the line is about a host, named as known_hosts does:
// in lower case, as [host]:port if the port is not 22.
func (l knownLine) matches(name string) bool {
	matched := false
	for _, pattern := range l.patterns {
		if strings.HasPrefix(pattern, "|") {
			matched = matched || matchesHash(pattern, name)
			continue
		}
		pattern, negated := strings.CutPrefix(strings.ToLower(pattern), "!")
		if wildcardMatches(pattern, name) {
			if negated {
				return false
			}
			matched = true
		}
	}
	return matched
}

func matchesHash(pattern, name string) bool {
	parts := strings.Split(pattern, "|")
	if len(parts) != 4 || parts[1] != "1" {
		return false
	}
	salt, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	want, err := base64.StdEncoding.DecodeString(parts[3])
	if err != nil {
		return false
	}
	mac := hmac.New(sha1.New, salt)
	mac.Write([]byte(name))
	return hmac.Equal(mac.Sum(nil), want)
}

// wildcardMatches matches * and ?.
func wildcardMatches(pattern, name string) bool {
	if !strings.ContainsAny(pattern, "*?") {
		return pattern == name
	}
	form := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
	matched, err := regexp.MatchString(`(?s)^`+form+`$`, name)
	return err == nil && matched
}

// knownNames returns the names of a host in known_hosts. The second one, if any, is the
// name without the port. As with OpenSSH, a key under that name is trusted, but another
// key there means nothing for this port.
func (s settings) knownNames() []string {
	if s.hostKeyAlias != "" {
		return []string{strings.ToLower(s.hostKeyAlias)}
	}
	host := strings.ToLower(s.host)
	if s.port == 22 {
		return []string{host}
	}
	return []string{knownhosts.Normalize(net.JoinHostPort(host, strconv.Itoa(s.port))), host}
}

func (k knownHosts) about(name, marker string) knownHosts {
	var lines knownHosts
	for _, line := range k {
		if line.marker == marker && line.matches(name) {
			lines = append(lines, line)
		}
	}
	return lines
}

// isAuthority reports whether a key vouches for the keys of a host.
func (k knownHosts) isAuthority(names []string, key ssh.PublicKey) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(k.about(name, markerAuthority), func(line knownLine) bool { return sameKey(line.key, key) })
	})
}

// revoked returns the line that revokes a key, for whichever host.
func (k knownHosts) revoked(key ssh.PublicKey) (line knownLine, found bool) {
	index := slices.IndexFunc(k, func(line knownLine) bool { return line.marker == markerRevoked && sameKey(line.key, key) })
	if index < 0 {
		return knownLine{}, false
	}
	return k[index], true
}

// algorithms narrows the host key algorithms to those of keys in known_hosts. Otherwise a
// server with several keys could show an unknown one, which would look changed.
func (k knownHosts) algorithms(names, offered []string) []string {
	keys := k.about(names[0], "")
	authorities := slices.ContainsFunc(names, func(name string) bool { return len(k.about(name, markerAuthority)) > 0 })
	var certified, plain []string
	for _, algorithm := range offered {
		if strings.Contains(algorithm, "-cert-v0") {
			if authorities {
				certified = append(certified, algorithm)
			}
			continue
		}
		known := slices.ContainsFunc(keys, func(line knownLine) bool { return signsWith(line.key.Type(), algorithm) })
		if len(keys) == 0 || known {
			plain = append(plain, algorithm)
		}
	}
	return append(certified, plain...)
}

// signsWith reports whether a key of that type makes signatures of that algorithm.
func signsWith(keyType, algorithm string) bool {
	if keyType == ssh.KeyAlgoRSA {
		return algorithm == ssh.KeyAlgoRSA || algorithm == ssh.KeyAlgoRSASHA256 || algorithm == ssh.KeyAlgoRSASHA512
	}
	return keyType == algorithm
}

func sameKey(one, other ssh.PublicKey) bool { return bytes.Equal(one.Marshal(), other.Marshal()) }

// remember appends a key to a known_hosts file, and creates the file if needed.
func remember(file, name string, hashed bool, key ssh.PublicKey) (err error) {
	if hashed {
		name = knownhosts.HashHostname(name)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("saving a host key: %w", err)
	}
	opened, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("saving a host key: %w", err)
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	line := name + " " + strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))) + "\n"
	last := make([]byte, 1)
	if info, err := opened.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		if _, err := opened.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := opened.WriteString(line); err != nil {
		return fmt.Errorf("saving a host key: %w", err)
	}
	return nil
}
