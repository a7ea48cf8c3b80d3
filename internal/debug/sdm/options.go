package sdm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rmctl/rmctl/internal/rank"
)

// Usage is the text for invalid options.
const Usage = `usage: rmctl-node sdm [--debugger=gdb|lldb|dlv] [--debugger_path=PATH]
    [--proxy=tcp] [--host=NAME] [--port=PORT] [--master | --server=RANK]
    [--routing_file=PATH] [--generate_routes=HOST,... | --collect_routes] [--debug[=LEVEL]]
`

// defaultPort is the port of the client, as for the agents of PTP.
const defaultPort = 12345

// defaultRoutes is the name of the file with the addresses of the servers.
const defaultRoutes = "routing_file"

// Options are the options of the command line.
type Options struct {
	Debugger     string // gdb, lldb or dlv
	DebuggerPath string // empty to search for it
	IsMaster     bool
	Rank         int    // of a server
	Host         string // of the client; empty if the master listens
	Port         int
	Routes       string   // file with the addresses of the servers
	Hosts        []string // the master writes that file, for a server on each
	Collects     bool     // servers say where they are, and the master writes the file
	Size         int      // ranks, as the launcher of a server says; 0 if unknown
	IsVerbose    bool
}

// debuggers are the names that --debugger takes.
var debuggers = map[string]string{"gdb-mi": "gdb", "gdb": "gdb", "lldb": "lldb", "dlv": "dlv"}

// An option is an option of the command line.
type option struct {
	hasValue   bool
	isOptional bool // the value follows "=" only
	set        func(o *Options, value string) error
}

// names are the options by their names, with the letters of earlier versions.
var names = map[string]string{"b": "debugger", "e": "debugger_path", "P": "proxy", "h": "host", "p": "port", "m": "master", "d": "debug", "j": "jobid"}

var options = map[string]option{
	"debugger": {hasValue: true, set: func(o *Options, value string) error {
		if o.Debugger = debuggers[value]; o.Debugger == "" {
			return fmt.Errorf("unknown debugger %.40q: use gdb-mi, gdb, lldb or dlv", value)
		}
		return nil
	}},
	"debugger_path": {hasValue: true, set: func(o *Options, value string) error { o.DebuggerPath = value; return nil }},
	"proxy": {hasValue: true, set: func(_ *Options, value string) error {
		if value != "tcp" {
			return fmt.Errorf("unknown proxy %.40q: use tcp", value)
		}
		return nil
	}},
	"host": {hasValue: true, set: func(o *Options, value string) error { o.Host = value; return nil }},
	"port": {hasValue: true, set: func(o *Options, value string) error {
		port, err := strconv.ParseUint(value, 10, 16)
		if err != nil || port == 0 && o.Host != "" {
			return fmt.Errorf("invalid port %.40q", value)
		}
		o.Port = int(port)
		return nil
	}},
	"master": {set: func(o *Options, _ string) error { o.IsMaster = true; return nil }},
	"server": {hasValue: true, set: func(o *Options, value string) error {
		number, err := strconv.ParseUint(value, 10, 16)
		if err != nil {
			return fmt.Errorf("invalid rank %.40q", value)
		}
		o.Rank = int(number)
		return nil
	}},
	"routing_file": {hasValue: true, set: func(o *Options, value string) error { o.Routes = value; return nil }},
	"generate_routes": {hasValue: true, set: func(o *Options, value string) error {
		o.Hosts = strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	}},
	"collect_routes": {set: func(o *Options, _ string) error { o.Collects = true; return nil }},

	"debug":    {hasValue: true, isOptional: true, set: func(o *Options, _ string) error { o.IsVerbose = true; return nil }},
	"jobid":    {hasValue: true, set: ignore},
	"numnodes": {hasValue: true, set: ignore},
	"numprocs": {hasValue: true, set: ignore},
}

// ignore accepts options of 2006 to 2008: the file of addresses has the number of servers.
func ignore(*Options, string) error { return nil }

// ParseOptions parses a command line without the name of the program, and ignores words after "--". The
// environment has the rank of a server.
func ParseOptions(arguments []string, variable func(name string) string) (*Options, error) {
	o := &Options{Debugger: "gdb", Port: defaultPort, Routes: defaultRoutes, Rank: -1}
	for len(arguments) > 0 && arguments[0] != "--" {
		name, value, hasValue, err := cutOption(arguments[0])
		if err != nil {
			return nil, err
		}
		arguments = arguments[1:]
		known, isKnown := options[name]
		switch {
		case !isKnown || hasValue && !known.hasValue:
			return nil, fmt.Errorf("unknown option %.40q", name)
		case known.hasValue && !hasValue && !known.isOptional:
			if len(arguments) == 0 {
				return nil, fmt.Errorf("option %s requires a value", name)
			}
			value, arguments = arguments[0], arguments[1:]
		}
		if err := known.set(o, value); err != nil {
			return nil, err
		}
	}
	if o.IsMaster {
		return o, nil
	}
	return o, o.findRank(variable)
}

// cutOption takes an option apart: --NAME, --NAME=VALUE, -NAME, -LETTER or -LETTERVALUE.
func cutOption(text string) (name, value string, hasValue bool, err error) {
	short, isOption := strings.CutPrefix(text, "-")
	long, isLong := strings.CutPrefix(short, "-")
	name, value, hasValue = strings.Cut(long, "=")
	switch _, isKnown := options[name]; {
	case !isOption || long == "":
		return "", "", false, fmt.Errorf("unexpected argument %.40q", text)
	case isLong || isKnown:
		return name, value, hasValue, nil
	}
	name = names[short[:1]]
	return name, short[1:], short[1:] != "", nil
}

// otherRanks are variables that launchers of the time of PTP set.
var otherRanks = []string{"OMPI_MCA_orte_ess_vpid", "OMPI_MCA_ns_nds_vpid", "MP_CHILD"}

// findRank sets the rank of a server. That of the environment counts more than that of the command line.
func (o *Options) findRank(variable func(name string) string) error {
	for _, name := range append([]string{""}, otherRanks...) {
		found, hasRank, err := rank.Of(variable, name)
		if err != nil {
			return err
		}
		if hasRank {
			o.Rank, o.Size = found.Rank, rank.SizeOf(variable, found)
			break
		}
	}
	if o.Rank < 0 {
		return errors.New("no launcher gives the rank of this process: use --master or --server=RANK")
	}
	return nil
}
