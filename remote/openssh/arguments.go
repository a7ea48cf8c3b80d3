package openssh

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
	"github.com/rmctl/rmctl/remote/internal/channel"
)

// aliveInterval is ServerAliveInterval in seconds, unless the user's configuration sets
// it. Three missing answers end the connection.
const aliveInterval = "30"

// connectTimeout is ConnectTimeout in seconds, unless the user's configuration sets it.
const connectTimeout = "20"

// settings are the output of ssh -G: lower-case keywords and values. They are empty if ssh
// does not support -G, as some wrappers do not.
type settings map[string]string

func (s settings) hasControlPath() bool {
	path := s["controlpath"]
	return path != "" && path != "none"
}

// readSettings reads the configuration of ssh for the host.
func (d *dialer) readSettings(ctx context.Context) (settings, error) {
	stdout, stderr, err := d.query(ctx, append(d.common(), "-G", "--", d.options.Host))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the configuration of ssh for %s: %w", d.options.Host, err)
	}
	if err != nil {
		if reason := classify(stderr); reason == remote.BadConfiguration {
			return nil, d.failure(reason, lastLines(stderr))
		}
		d.options.Log.Debug("ssh does not print its configuration", "host", d.options.Host, "error", err)
		return settings{}, nil
	}
	found := settings{}
	for line := range strings.Lines(stdout) {
		keyword, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[strings.ToLower(keyword)] = value
	}
	return found, nil
}

// common returns the first arguments of every call.
func (d *dialer) common() []string {
	if d.options.ConfigFile == "" {
		return nil
	}
	return []string{"-F", d.options.ConfigFile}
}

const clearForwardings = "-oClearAllForwardings=yes"

// always returns the arguments of every process that connects. They switch off what the
// configuration adds to the user's own sessions, such as forwarded ports or a command.
func (d *dialer) always() []string {
	arguments := append(d.common(), clearForwardings, "-e", "none", "-a")
	// Versions that do not support these keywords refuse them, and do not print them
	// with -G.
	for _, option := range []struct{ keyword, usual, argument string }{
		{"remotecommand", "none", "RemoteCommand=none"},
		{"stdinnull", "no", "StdinNull=no"},
		{"forkafterauthentication", "no", "ForkAfterAuthentication=no"},
	} {
		if value := d.settings[option.keyword]; value != "" && value != option.usual {
			arguments = append(arguments, "-o", option.argument)
		}
	}
	return arguments
}

// authenticating returns further arguments of a process that authenticates.
func (d *dialer) authenticating() []string {
	var arguments []string
	if d.options.Prompter == nil {
		arguments = append(arguments, "-o", "BatchMode=yes")
	}
	if value := d.settings["connecttimeout"]; value == "" || value == "none" {
		arguments = append(arguments, "-o", "ConnectTimeout="+connectTimeout)
	}
	if value := d.settings["serveraliveinterval"]; value == "" || value == "0" {
		arguments = append(arguments, "-o", "ServerAliveInterval="+aliveInterval)
	}
	// "no" accepts a host whose key has changed, which rmctl never does. It still
	// accepts unknown hosts.
	if value := d.settings["stricthostkeychecking"]; value == "false" || value == "no" || value == "off" {
		arguments = append(arguments, "-o", "StrictHostKeyChecking=accept-new")
	}
	return arguments
}

// masterArguments start a master in the foreground. It ends with its terminal, which this
// process holds, at the latest.
func (d *dialer) masterArguments(messages string) []string {
	arguments := append(d.always(), d.authenticating()...)
	return append(arguments, "-o", "ControlMaster=yes", "-o", "ControlPersist=no", d.ownControlPath(),
		"-o", "LogLevel=DEBUG1", "-E", messages, "-x", "-T", "-N", "--", d.options.Host)
}

// ownControlPath returns one argument, because ssh reads the value as a line of ssh_config.
func (d *dialer) ownControlPath() string {
	return `-oControlPath="` + strings.ReplaceAll(d.socket(), "%", "%%") + `"`
}

func (d *dialer) controlPath(way way) []string {
	if way == throughOwnMaster {
		return []string{d.ownControlPath()}
	}
	return nil
}

func (d *dialer) checkMasterArguments(way way) []string {
	arguments := append(d.common(), d.controlPath(way)...)
	return append(arguments, "-O", "check", "--", d.options.Host)
}

func (d *dialer) endMasterArguments() []string {
	return append(d.common(), d.ownControlPath(), "-O", "exit", "--", d.options.Host)
}

// forwardArguments let a master begin or cancel the forwarding of a port. The user's
// configuration does not count, because its own forwardings would be meant, too.
func (d *dialer) forwardArguments(order, specification string) []string {
	arguments := append([]string{"-F", "/dev/null"}, d.controlPath(d.way)...)
	if d.way == throughUsersMaster {
		for _, option := range []struct{ keyword, setting string }{
			{"HostName", "hostname"}, {"Port", "port"}, {"User", "user"}, {"ControlPath", "controlpath"},
		} {
			arguments = append(arguments, "-o", option.keyword+"="+d.settings[option.setting])
		}
	}
	return append(arguments, "-O", order, "-R", specification, "--", d.options.Host)
}

// directForwardArguments start an ssh that forwards a port. ClearAllForwardings would mean
// that one, too.
func (d *dialer) directForwardArguments(specification, messages string) []string {
	arguments := slices.DeleteFunc(d.always(), func(argument string) bool { return argument == clearForwardings })
	arguments = append(append(arguments, d.authenticating()...), "-o", "ControlMaster=no", "-o", "ControlPath=none")
	return append(arguments, "-o", "ExitOnForwardFailure=no", "-o", "LogLevel=DEBUG1", "-E", messages, "-x", "-T", "-N",
		"-R", specification, "--", d.options.Host)
}

// channelArguments start a channel: a command line, or a subsystem.
func (d *dialer) channelArguments(line string, options channel.Options, way way, messages string) []string {
	arguments := d.always()
	if way == directly {
		arguments = append(append(arguments, d.authenticating()...), "-o", "ControlMaster=no", "-o", "ControlPath=none")
	} else {
		// Without a master ssh would connect by itself, slowly and with questions. It
		// runs ProxyCommand only then.
		arguments = append(append(arguments, d.controlPath(way)...), "-o", "ControlMaster=no", "-o", "ProxyCommand=false")
	}
	// Only debugging messages show that a channel was opened, and whether exit code 255
	// is that of the command or of ssh.
	arguments = append(arguments, "-o", "LogLevel=DEBUG2", "-E", messages)
	if options.ForwardX11 {
		arguments = append(arguments, "-X")
	} else {
		arguments = append(arguments, "-x")
	}
	if options.Terminal != nil {
		arguments = append(arguments, "-tt")
	} else {
		arguments = append(arguments, "-T")
	}
	if value := d.settings["sessiontype"]; value != "" && value != "default" && !options.Subsystem {
		arguments = append(arguments, "-o", "SessionType=default")
	}
	if options.Subsystem {
		arguments = append(arguments, "-s")
	}
	return append(arguments, "--", d.options.Host, line)
}

// environment returns this process's own, changed so that ssh prints English messages and
// asks on its terminal only.
func environment(terminalType string) []string {
	changed := []string{"LC_ALL=C", "SSH_ASKPASS_REQUIRE=never"}
	if terminalType != "" {
		changed = append(changed, "TERM="+terminalType)
	}
	return append(os.Environ(), changed...)
}

// query runs ssh without a connection, and returns its output.
func (d *dialer) query(ctx context.Context, arguments []string) (stdout, stderr string, err error) {
	return execution.Output(ctx, queryLimit, environment(""), append([]string{d.options.Program}, arguments...)...)
}

// masterAnswers reports whether the master is alive.
func (d *dialer) masterAnswers(ctx context.Context, way way) bool {
	_, _, err := d.query(ctx, d.checkMasterArguments(way))
	return err == nil
}
