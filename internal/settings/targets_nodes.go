package settings

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// maxNodeSetting bounds the settings for nodes: a path has at most 4096 bytes with what is below
// it, a host 255 with its port.
const maxNodeSetting = 1024

// isSafe reports whether remote shells, which split the commands of some launchers again, leave a
// character unchanged.
func isSafe(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./:=,@%+-", r)
}

func isUnsafe(r rune) bool { return !isSafe(r) }

// checkNodes refuses settings for the nodes of jobs that cannot work.
func (t *Target) checkNodes() error {
	if path := strings.TrimPrefix(t.NodeDirectory, "~/"); strings.HasPrefix(path, "-") || len(path) > maxNodeSetting || strings.ContainsFunc(path, isUnsafe) {
		return fmt.Errorf("invalid %s %.100q: use letters, digits and _./:=,@%%+- only", settingNodeDirectory, t.NodeDirectory)
	}
	if t.RelayAddress == "" {
		return nil
	}
	if problem := problemOfAddress(t.RelayAddress); problem != "" {
		return fmt.Errorf("invalid %s %.100q: %s; enter HOST or HOST:PORT", settingRelayAddress, t.RelayAddress, problem)
	}
	return nil
}

// problemOfAddress returns the problem of a HOST or HOST:PORT, or "".
func problemOfAddress(address string) string {
	host, port := address, ""
	if net.ParseIP(address) == nil && strings.Contains(address, ":") {
		var err error
		if host, port, err = net.SplitHostPort(address); err != nil {
			return "not an address"
		}
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return "invalid port"
		}
	}
	ip := net.ParseIP(host)
	switch {
	case host == "" || len(host) > maxNodeSetting || strings.HasPrefix(host, "-") || strings.ContainsFunc(host, isUnsafe):
		return "invalid host"
	case ip != nil && ip.IsUnspecified():
		return "all interfaces"
	}
	return ""
}
