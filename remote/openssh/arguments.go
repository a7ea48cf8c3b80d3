package openssh

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// aliveInterval is how often, in seconds, ssh asks whether the server lives,
// unless the user's configuration says it. Three silences end the connection.
const aliveInterval = "30"

// connectTimeout is how long, in seconds, ssh tries to connect, unless the
// user's configuration says it.
const connectTimeout = "20"

// settings is what ssh says of itself with -G: lower-case keywords and values.
// It is empty when ssh does not know -G, as some wrappers do not.
type settings map[string]string

func (s settings) hasControlPath() bool {
	path := s["controlpath"]
	return path != "" && path != "none"
}

// readSettings asks ssh what its configuration means for the host.
func (d *dialer) readSettings(ctx context.Context) (settings, error) {
	stdout, stderr, err := d.query(ctx, append(d.common(), "-G", "--", d.options.Host))
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("reading the configuration of ssh for %s: %w", d.options.Host, err)
	}
	if err != nil {
		if reason := classify(stderr); reason == remote.BadConfiguration {
			return nil, d.failure(reason, said(stderr))
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

// common is what every call begins with.
func (d *dialer) common() []string {
	if d.options.ConfigFile == "" {
		return nil
	}
	return []string{"-F", d.options.ConfigFile}
}

// always are the arguments of every process that connects. What the configuration
// could add to a connection, such as forwarded ports or a command of its own, is
// for the user's sessions, not for ours.
func (d *dialer) always() []string {
	arguments := append(d.common(), "-o", "ClearAllForwardings=yes", "-e", "none", "-a")
	// Versions that do not know these keywords refuse them; they do not print
	// them with -G either.
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

// authenticating are further arguments of a process that makes a connection.
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
	// "no" accepts a host whose key has changed. Nothing of ours does; what is
	// left is to accept those that are not known.
	if value := d.settings["stricthostkeychecking"]; value == "false" || value == "no" || value == "off" {
		arguments = append(arguments, "-o", "StrictHostKeyChecking=accept-new")
	}
	return arguments
}

// masterArguments start a master in the foreground: it ends with the terminal
// that this process holds, at the latest.
func (d *dialer) masterArguments(messages string) []string {
	arguments := append(d.always(), d.authenticating()...)
	return append(arguments, "-o", "ControlMaster=yes", "-o", "ControlPersist=no", d.ownControlPath(),
		"-o", "LogLevel=DEBUG1", "-E", messages, "-x", "-T", "-N", "--", d.options.Host)
}

// ownControlPath is one argument: ssh reads the value as a line of ssh_config.
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

// channelArguments start a channel: a command line, or a subsystem.
func (d *dialer) channelArguments(request request, way way, messages string) []string {
	arguments := d.always()
	if way == directly {
		arguments = append(append(arguments, d.authenticating()...), "-o", "ControlMaster=no", "-o", "ControlPath=none")
	} else {
		// When the master is gone ssh would connect by itself, slowly and with
		// questions. The command for reaching the host is run only then.
		arguments = append(append(arguments, d.controlPath(way)...), "-o", "ControlMaster=no", "-o", "ProxyCommand=false")
	}
	// Its debugging messages alone show that a channel was opened, and whether
	// an exit code 255 is the command's or its own.
	arguments = append(arguments, "-o", "LogLevel=DEBUG2", "-E", messages)
	if request.options.ForwardX11 {
		arguments = append(arguments, "-X")
	} else {
		arguments = append(arguments, "-x")
	}
	if request.options.Terminal != nil {
		arguments = append(arguments, "-tt")
	} else {
		arguments = append(arguments, "-T")
	}
	if value := d.settings["sessiontype"]; value != "" && value != "default" && !request.subsystem {
		arguments = append(arguments, "-o", "SessionType=default")
	}
	if request.subsystem {
		arguments = append(arguments, "-s")
	}
	return append(arguments, "--", d.options.Host, request.line)
}

// environment is this process's own, but for what would change what ssh prints
// or let it ask elsewhere than on its terminal.
func environment(terminalType string) []string {
	changed := []string{"LC_ALL=C", "SSH_ASKPASS_REQUIRE=never"}
	if terminalType != "" {
		changed = append(changed, "TERM="+terminalType)
	}
	return append(os.Environ(), changed...)
}

// query runs ssh for what it prints at once.
func (d *dialer) query(ctx context.Context, arguments []string) (stdout, stderr string, err error) {
	return execution.Output(ctx, queryLimit, environment(""), append([]string{d.options.Program}, arguments...)...)
}

// masterAnswers reports whether the master is alive.
func (d *dialer) masterAnswers(ctx context.Context, way way) bool {
	_, _, err := d.query(ctx, d.checkMasterArguments(way))
	return err == nil
}
