package ssh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kevinburke/ssh_config"

	"github.com/rmctl/rmctl/internal/execution"
)

const (
	programTime    = 20 * time.Second // "Match exec" may run anything
	maxConfigBytes = 4 << 20
)

// findProgram finds the ssh program that reads ssh_config.
func findProgram(options Options) (path string, found bool) {
	name := options.Program
	if name == "none" {
		return "", false
	}
	if name == "" {
		name = "ssh"
	}
	path, err := exec.LookPath(name)
	return path, err == nil
}

// askProgram asks the ssh program for the settings of a host.
func askProgram(ctx context.Context, program, configFile string, to destination) (values, error) {
	arguments := []string{program, "-G"}
	if configFile != "" {
		arguments = append(arguments, "-F", configFile)
	}
	if to.user != "" {
		arguments = append(arguments, "-l", to.user)
	}
	if to.port != 0 {
		arguments = append(arguments, "-p", strconv.Itoa(to.port))
	}
	stdout, stderr, err := execution.Output(ctx, programTime, os.Environ(), append(arguments, "--", to.host)...)
	if err != nil {
		said := visible(strings.TrimSpace(strings.ReplaceAll(stderr, "\r\n", "\n")), 1000)
		return nil, fmt.Errorf("running %s to read ssh_config for %s: %s", program, to.host, cmp.Or(said, err.Error()))
	}
	return parsePrinted(stdout), nil
}

// parsePrinted reads what ssh -G prints: a line for each setting, its name in
// lower case first.
func parsePrinted(printed string) values {
	read := values{}
	for line := range strings.Lines(printed) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
		name = strings.ToLower(name)
		read[name] = append(read[name], value)
	}
	return read
}

// severalTimes are the settings whose every occurrence counts; of all others
// the first does.
var severalTimes = map[string]bool{"identityfile": true, "certificatefile": true, "setenv": true}

// settingNames are the settings that are read from files.
var settingNames = []string{
	"AddressFamily", "BatchMode", "BindAddress", "CertificateFile", "ChallengeResponseAuthentication", "Ciphers",
	"ConnectTimeout", "ControlPath", "ForwardAgent", "GlobalKnownHostsFile", "GSSAPIAuthentication", "HashKnownHosts",
	"HostKeyAlgorithms", "HostKeyAlias", "HostName", "IdentitiesOnly", "IdentityAgent", "IdentityFile",
	"KbdInteractiveAuthentication", "KexAlgorithms", "MACs", "NumberOfPasswordPrompts", "PasswordAuthentication", "Port",
	"PreferredAuthentications", "ProxyCommand", "ProxyJump", "PubkeyAcceptedAlgorithms", "PubkeyAuthentication",
	"ServerAliveCountMax", "ServerAliveInterval", "SetEnv", "StrictHostKeyChecking", "TCPKeepAlive", "User",
	"UserKnownHostsFile", "XAuthLocation",
}

// readFiles reads the settings of a host without the ssh program. It understands Host,
// Include and the conditions host and all of Match; other conditions are errors, because
// their settings may matter.
func readFiles(configFile string, account *user.User, to destination) (values, error) {
	files := []string{configFile}
	if configFile == "" {
		files = []string{filepath.Join(account.HomeDir, ".ssh", "config"), "/etc/ssh/ssh_config"}
	}
	read := values{}
	if to.user != "" {
		read["user"] = []string{to.user}
	}
	if to.port != 0 {
		read["port"] = []string{strconv.Itoa(to.port)}
	}
	for _, file := range files {
		config, err := readFile(file)
		if errors.Is(err, fs.ErrNotExist) && configFile == "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := read.add(config, to.host); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if name := read.first("hostname"); name != "" {
		read["hostname"] = []string{strings.NewReplacer("%%", "%", "%h", to.host).Replace(name)}
	} else {
		read["hostname"] = []string{to.host}
	}
	// Changes of a default list (+, -, ^) need the defaults of OpenSSH.
	for _, name := range []string{"ciphers", "macs", "kexalgorithms", "hostkeyalgorithms", "pubkeyacceptedalgorithms"} {
		if strings.ContainsAny(read.first(name), "+-^*") && strings.IndexAny(read.first(name), "+-^") == 0 {
			return nil, fmt.Errorf("%s %s in ssh_config changes a default: this requires the ssh program", name, read.first(name))
		}
	}
	return read, nil
}

func (v values) add(config *ssh_config.Config, host string) error {
	for _, setting := range settingNames {
		name := strings.ToLower(setting)
		found, err := config.GetAll(host, setting)
		if err != nil {
			return fmt.Errorf("reading %s: %w", setting, err)
		}
		for _, value := range found {
			if severalTimes[name] || len(v[name]) == 0 {
				v[name] = append(v[name], unquote(value))
			}
		}
	}
	return nil
}

func readFile(path string) (*ssh_config.Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(content) > maxConfigBytes {
		return nil, fmt.Errorf("%s is longer than %d bytes", path, maxConfigBytes)
	}
	return parseFile(path, content)
}

func parseFile(path string, content []byte) (*ssh_config.Config, error) {
	config, err := ssh_config.DecodeBytes(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (without an ssh program, only Host, Include, Match host and Match all are supported)", path, err)
	}
	return config, nil
}
