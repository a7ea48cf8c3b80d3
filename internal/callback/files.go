package callback

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Files in the directory of the job. The process of the job stays until rmctl removes the first one.
const (
	AddressesFile = "callback-addresses"
	ResultsFile   = "callback-results"
)

const (
	pollInterval = 200 * time.Millisecond
	// longestStay bounds how long the process of the job waits for the removal of the file.
	longestStay = 2 * time.Minute
	mostFile    = 64 << 10
)

// A Result is the result of a node for one address.
type Result struct {
	Address string `json:"address"` // without its port
	Node    string `json:"node"`
	Problem string `json:"problem,omitempty"` // why the node does not reach it
}

// Listen listens at a free port of each address, writes them to a file in the directory of a
// job, and reports nodes that connect, until the context ends. It removes the file.
func Listen(ctx context.Context, directory string, secret []byte, addresses []netip.Addr, listening func([]string), report func(Caller)) error {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var bound, shown []string
	for _, address := range addresses {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(address.String(), "0"))
		if err != nil {
			continue // such as an address that is not ready; it is not offered
		}
		bound, shown = append(bound, listener.Addr().String()), append(shown, address.String())
		running.Go(func() { Accept(ctx, listener, secret, report) })
	}
	file := filepath.Join(directory, AddressesFile)
	if err := writeJSON(file, bound); err != nil {
		return err
	}
	defer func() { _ = os.Remove(file) }() // rmctl may have removed it
	listening(shown)
	<-ctx.Done()
	return nil
}

// TryAll tries the addresses in the directory of a job from this node, writes the results
// there, and stays until the addresses are removed.
func TryAll(ctx context.Context, directory, node string, secret []byte) ([]Result, error) {
	ctx, cancel := context.WithTimeout(ctx, longestStay)
	defer cancel()
	file := filepath.Join(directory, AddressesFile)
	var addresses []string
	if err := readJSON(file, &addresses); err != nil {
		return nil, fmt.Errorf("reading the addresses to try: %w", err)
	}
	addresses = addresses[:min(len(addresses), mostAddresses)]
	results := make([]Result, len(addresses))
	var running sync.WaitGroup
	for i, address := range addresses {
		running.Go(func() {
			host, _, _ := net.SplitHostPort(address)
			results[i] = Result{Address: host, Node: node}
			if err := Try(ctx, address, node, secret); err != nil {
				results[i].Problem = err.Error()
			}
		})
	}
	running.Wait()
	if err := writeJSON(filepath.Join(directory, ResultsFile), results); err != nil {
		return results, err
	}
	poll := time.NewTicker(pollInterval)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return results, nil
		case <-poll.C:
			if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
				return results, nil
			}
		}
	}
}

// writeJSON writes a private file atomically.
func writeJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".part-*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error above is better
	}
	return err
}

func readJSON(name string, value any) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > mostFile {
		return fmt.Errorf("%q is not a file of rmctl", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}
