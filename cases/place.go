package cases

import (
	"cmp"

	"github.com/rmctl/rmctl/remote"
)

// A Place is the machine on which a flow runs. It contains only files that the flow
// writes. The defaults are user, login, /home/user and linux.
type Place struct {
	User   string `toml:"user,omitempty"`
	Host   string `toml:"host,omitempty"`
	Home   string `toml:"home,omitempty"`
	System string `toml:"system,omitempty"` // as uname -s prints it, in lower case
}

// Info returns the description of the place by its connection.
func (p Place) Info() remote.Info {
	return remote.Info{
		Transport: "local", User: cmp.Or(p.User, "user"), Host: cmp.Or(p.Host, "login"),
		Home: cmp.Or(p.Home, "/home/user"), System: cmp.Or(p.System, "linux"),
	}
}

// terminalAttribute says whether an interactive job has a terminal.
const terminalAttribute = "job.terminal"

// Attributes returns the attributes that a controller sets for commands.
func (p Place) Attributes() map[string]string {
	info := p.Info()
	return map[string]string{
		"control.user.name":   info.User,
		"control.address":     info.Host,
		"control.working.dir": info.Home,
		"working.directory":   info.Home,
		"ptpDirectory":        info.Home + "/.eclipsesettings",
		terminalAttribute:     "true",
	}
}
