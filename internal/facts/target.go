// Package facts is how targets, launch configurations and renderings are written in
// JSON: by the commands of rmctl with --json, and by its server. The names are a
// contract with scripts. Jobs, processes and events are those of package job.
package facts

import "github.com/rmctl/rmctl/internal/settings"

// A Target is a definition and a connection.
type Target struct {
	Name       string `json:"name"`
	Definition string `json:"definition"`
	Transport  string `json:"transport"`
	Host       string `json:"host,omitempty"`
	Default    bool   `json:"default,omitempty"`
}

// OfTarget returns a target, and whether it is the default one of all.
func OfTarget(target settings.Target, isDefault bool) Target {
	return Target{target.Name, target.Definition, target.Transport, target.Host, isDefault}
}
