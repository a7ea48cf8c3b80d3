package sdm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/debug"
)

const (
	// routesTries is how often, a second apart, the file of addresses is read until it is complete.
	routesTries = 1000
	// longestHost bounds the name of a host, in bytes.
	longestHost = 255
	// mostRoutes bounds the file, in bytes.
	mostRoutes = debug.MostRanks * (longestHost + 16)
	// The ports from which servers listen: one of these, or one of those that follow.
	firstPort, lastPort = 50000, 59999
	// portTries is how many ports a server tries.
	portTries = 1000
)

// A route is where a server listens: at the first port that is free, from Port on.
type route struct {
	host string
	port int
}

// errIncomplete reports that the file is being written.
var errIncomplete = errors.New("the file is not complete")

// parseRoutes parses a file of addresses: the number of servers, and a line with rank, host and port for each.
func parseRoutes(text []byte) ([]route, error) {
	lines := strings.Split(string(text), "\n")
	if len(lines) < 2 || lines[len(lines)-1] != "" {
		return nil, errIncomplete
	}
	lines = lines[:len(lines)-1]
	size, err := strconv.ParseUint(strings.TrimSpace(lines[0]), 10, 32)
	switch {
	case err != nil || size == 0 || size > debug.MostRanks:
		return nil, fmt.Errorf("invalid number of servers %.40q", lines[0])
	case len(lines)-1 < int(size):
		return nil, errIncomplete
	case len(lines)-1 > int(size):
		return nil, fmt.Errorf("%d lines for %d servers", len(lines)-1, size)
	}
	routes := make([]route, size)
	for _, line := range lines[1:] {
		number, at, err := parseRoute(line)
		switch {
		case err != nil:
			return nil, err
		case number >= len(routes) || routes[number].port != 0:
			return nil, fmt.Errorf("invalid line %.100q: the rank is out of range or there twice", line)
		}
		routes[number] = at
	}
	return routes, nil
}

// parseRoute parses the line of a server.
func parseRoute(line string) (rank int, at route, err error) {
	words := strings.Fields(line)
	if len(words) != 3 || len(words[1]) > longestHost {
		return 0, route{}, fmt.Errorf("invalid line %.100q: write RANK HOST PORT", line)
	}
	number, rankErr := strconv.ParseUint(words[0], 10, 31)
	port, portErr := strconv.ParseUint(words[2], 10, 16)
	if rankErr != nil || portErr != nil || port == 0 {
		return 0, route{}, fmt.Errorf("invalid line %.100q: invalid rank or port", line)
	}
	return int(number), route{words[1], int(port)}, nil
}

// writeRoutes writes a file of addresses for one server on each host, in the order of the ranks, and replaces an earlier one.
// Servers and master wait for it.
func writeRoutes(path string, hosts []string) error {
	if len(hosts) == 0 || len(hosts) > debug.MostRanks {
		return fmt.Errorf("writing %s: %d servers", path, len(hosts))
	}
	var text bytes.Buffer
	fmt.Fprintln(&text, len(hosts))
	for number, host := range hosts {
		if host == "" || len(host) > longestHost || strings.ContainsAny(host, " \t\r\n") {
			return fmt.Errorf("writing %s: invalid host name %.100q", path, host)
		}
		fmt.Fprintln(&text, number, host, randomPort())
	}
	return replaceFile(path, text.Bytes())
}

// randomPort returns the port from which a server listens.
func randomPort() int { return firstPort + rand.IntN(lastPort-firstPort+1) }

// replaceFile writes a file that others see only once it is complete.
func replaceFile(path string, text []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".sdm-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error says more
	}
	return err
}

// awaitRoutes waits until the file of addresses is complete, and not of an earlier start.
func awaitRoutes(ctx context.Context, path string, isCurrent func([]route) bool) ([]route, error) {
	var last error
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for range routesTries {
		_, _ = os.ReadDir(filepath.Dir(path)) // network file systems show new files after that only
		routes, err := readRoutes(path)
		if err == nil && !isCurrent(routes) {
			err = fmt.Errorf("%s is of an earlier start: %w", path, errIncomplete)
		}
		if err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errIncomplete) {
			return routes, err
		}
		last = err
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-ticker.C:
		}
	}
	return nil, fmt.Errorf("waiting for the addresses of the servers: %w", last)
}

// isAny takes every file of addresses.
func isAny([]route) bool { return true }

func readRoutes(path string) ([]route, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, mostRoutes+1))
	if err == nil && len(text) > mostRoutes {
		err = errors.New("the file is too long")
	}
	var routes []route
	if err == nil {
		routes, err = parseRoutes(text)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return routes, nil
}
