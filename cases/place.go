package cases

import (
	"cmp"

	"github.com/rmctl/rmctl/remote"
)

// A Place is the machine that a flow plays on. Nothing exists there but what
// the flow writes. What is empty is user, login, /home/user and linux.
type Place struct {
	User   string `toml:"user,omitempty"`
	Host   string `toml:"host,omitempty"`
	Home   string `toml:"home,omitempty"`
	System string `toml:"system,omitempty"` // as uname -s prints it, in lower case
}

// Info returns the place as a connection describes itself.
func (p Place) Info() remote.Info {
	return remote.Info{
		Transport: "local", User: cmp.Or(p.User, "user"), Host: cmp.Or(p.Host, "login"),
		Home: cmp.Or(p.Home, "/home/user"), System: cmp.Or(p.System, "linux"),
	}
}

// terminalAttribute says whether an interactive job has a terminal.
const terminalAttribute = "job.terminal"

// Attributes returns the attributes of the place that a controller supplies to commands.
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
