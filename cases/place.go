package cases

import "github.com/rmctl/rmctl/remote"

// home is where cases play. Nothing there exists but what a flow writes.
const home = "/home/user"

// here describes the machine that cases play on.
func here() remote.Info {
	return remote.Info{Transport: "local", User: "user", Host: "login", Home: home, System: "linux", Arch: "amd64"}
}

// place is what a controller tells commands of a machine (see rm-format, the
// attributes that the engine supplies).
var place = map[string]string{
	"control.user.name":   here().User,
	"control.address":     here().Host,
	"control.working.dir": here().Home,
	"working.directory":   here().Home,
	"ptpDirectory":        here().Home + "/.eclipsesettings",
}
