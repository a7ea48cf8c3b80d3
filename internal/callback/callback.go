// Package callback finds the addresses at which the nodes of a job reach a host. The host listens
// on each address, and a process of the job tries all. Both ends prove the job's secret, because
// another host may have the same private address.
package callback

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"
)

const (
	// connectLimit bounds one attempt to connect, the proofs included.
	connectLimit = 5 * time.Second
	mostLine     = 1 << 10
	mostNode     = 255
	// mostAtOnce bounds the connections that one address serves at a time.
	mostAtOnce = 64
	// mostAddresses bounds how many addresses of a host are tried.
	mostAddresses = 64
)

var errProof = errors.New("another program answered: it does not know the secret of the job")

// Addresses returns the addresses of this host that other hosts may reach, IPv4 addresses
// first.
func Addresses() ([]netip.Addr, error) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, fmt.Errorf("listing the addresses of this host: %w", err)
	}
	var four, six []netip.Addr
	for _, each := range all {
		network, isNetwork := each.(*net.IPNet)
		if !isNetwork {
			continue
		}
		address, isAddress := netip.AddrFromSlice(network.IP)
		address = address.Unmap()
		switch {
		case !isAddress || !address.IsGlobalUnicast():
		case address.Is4():
			four = append(four, address)
		default:
			six = append(six, address)
		}
	}
	found := append(four, six...)
	return found[:min(len(found), mostAddresses)], nil
}

// A Caller is a node that reached an address.
type Caller struct {
	Address string `json:"address"`
	Node    string `json:"node"`
}

// Accept serves nodes that connect, until the context ends, and reports each that has the
// secret. It closes the listener. Reports come from several goroutines.
func Accept(ctx context.Context, listener net.Listener, secret []byte, report func(Caller)) {
	defer context.AfterFunc(ctx, func() { _ = listener.Close() })() // it has nothing to write
	address, _, _ := net.SplitHostPort(listener.Addr().String())
	turns := make(chan struct{}, mostAtOnce)
	for {
		connection, err := listener.Accept()
		if err != nil {
			break
		}
		turns <- struct{}{}
		go func() {
			defer func() { <-turns }()
			if node, err := admit(ctx, connection, secret); err == nil {
				report(Caller{address, node})
			}
		}()
	}
	_ = listener.Close()   // it has nothing to write
	for range cap(turns) { // waits for all
		turns <- struct{}{}
	}
}

// admit checks that the other end has the secret, proves that this one has it, and returns the name of
// the node.
func admit(ctx context.Context, connection net.Conn, secret []byte) (string, error) {
	defer limit(ctx, connection)()
	lines := bufio.NewReaderSize(connection, mostLine)
	nonce := newNonce()
	if _, err := io.WriteString(connection, nonce+"\n"); err != nil {
		return "", err
	}
	text, err := line(lines)
	if err != nil {
		return "", err
	}
	words := strings.Split(text, " ")
	if len(words) != 3 || len(words[0]) != len(nonce) || len(words[1]) > mostNode {
		return "", errProof
	}
	answer, node := words[0], words[1]
	if !hmac.Equal([]byte(words[2]), []byte(proof(secret, "node", nonce, answer, node))) {
		return "", errProof
	}
	_, err = io.WriteString(connection, proof(secret, "host", nonce, answer, node)+"\n")
	return node, err
}

// Try connects to a HOST:PORT, and checks that it is the host of the job.
func Try(ctx context.Context, address, node string, secret []byte) error {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	if node == "" || len(node) > mostNode || strings.ContainsAny(node, " \n") {
		return fmt.Errorf("invalid node name %.100q", node)
	}
	connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer limit(ctx, connection)()
	lines := bufio.NewReaderSize(connection, mostLine)
	nonce, err := line(lines)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	answer := newNonce()
	if _, err := fmt.Fprintf(connection, "%s %s %s\n", answer, node, proof(secret, "node", nonce, answer, node)); err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	text, err := line(lines)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	if !hmac.Equal([]byte(text), []byte(proof(secret, "host", nonce, answer, node))) {
		return errProof
	}
	return nil
}

// limit bounds how long a connection lives. The function that it returns closes it.
func limit(ctx context.Context, connection net.Conn) func() {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() }) // its users get an error
	return func() {
		stop()
		cancel()
		_ = connection.Close() // all was written
	}
}

// line reads a short line.
func line(lines *bufio.Reader) (string, error) {
	text, err := lines.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(text), "\n"), nil
}

func newNonce() string {
	nonce := make([]byte, sha256.Size)
	_, _ = rand.Read(nonce) // never fails
	return hex.EncodeToString(nonce)
}

// proof shows that one end, "node" or "host", has the secret.
func proof(secret []byte, end, hostNonce, nodeNonce, node string) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(strings.Join([]string{"rmctl callback 1", end, hostNonce, nodeNonce, node}, "\n")))
	return hex.EncodeToString(mac.Sum(nil))
}
