// Package secret recognizes the names of secrets.
package secret

import (
	"slices"
	"strings"
)

// parts are parts of the names of secrets.
var parts = []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "credential"}

// IsName reports whether a name, for example of a variable, names a secret.
func IsName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(name, part) })
}
