package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rmctl/rmctl/internal/callback"
	"github.com/rmctl/rmctl/internal/rendezvous"
	"github.com/rmctl/rmctl/internal/tree"
)

const (
	// introductionName is the name of the exchange of addresses.
	introductionName = "rmctl addresses"
	// introductionTime bounds the exchange; after it the program starts without the addresses.
	introductionTime = time.Minute
	mostAddress      = 255
	// mostHosts bounds COALLOC_HOSTS: the kernel takes no variable beyond 128 KiB.
	mostHosts = 100 << 10
)

// An introduction describes the first process of a part.
type introduction struct {
	Host    string `json:"host"`
	IP      string `json:"ip,omitempty"`
	Address string `json:"address"` // COALLOC_ADDRESS, otherwise the IP address, otherwise the host
}

// A peer is a part in the file of peers.
type peer struct {
	Name      string `json:"name"`
	Index     int    `json:"index"`
	Size      int    `json:"size"`
	FirstRank int    `json:"firstRank"`
	introduction
	Ended bool `json:"ended,omitempty"` // its job ended before it gave an address
}

// introduce exchanges the addresses of the first processes of all parts. It returns variables for the program.
// If it fails, the program runs without them, because the others are released already.
func (p *process) introduce(ctx context.Context, session *rendezvous.Session, environment []string) []string {
	ctx, cancel := context.WithTimeout(ctx, introductionTime)
	defer cancel()
	own := introductionOf(p.identity.Host, valueOf(environment, addressVariable))
	all, err := p.exchangeIntroductions(ctx, session, own)
	if errors.Is(err, rendezvous.ErrNotJoined) {
		return nil
	}
	peers := peersOf(all)
	var file string
	if err == nil {
		file, err = writePeers(filepath.Dir(p.file), peers)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rmctl-node: exchanging addresses of parts:", tree.OneLine(err.Error()))
		return nil
	}
	variables := []string{"COALLOC_PEERS_FILE=" + file}
	addresses := make([]string, 0, len(peers))
	for _, each := range peers {
		addresses = append(addresses, each.Address)
	}
	if hosts := strings.Join(addresses, ","); len(hosts) <= mostHosts {
		variables = append(variables, "COALLOC_HOSTS="+hosts)
	}
	return variables
}

// exchangeIntroductions connects again if the connection is lost.
func (p *process) exchangeIntroductions(ctx context.Context, session *rendezvous.Session, own introduction) ([]rendezvous.Information, error) {
	var data []byte
	if session.Rank() == 0 {
		text, err := json.Marshal(own)
		if err != nil {
			return nil, err
		}
		data = text
	}
	all, err := session.Exchange(ctx, introductionName, data)
	for errors.Is(err, rendezvous.ErrLost) {
		var again *rendezvous.Session
		if again, err = p.open(ctx); err == nil {
			all, err = again.Exchange(ctx, introductionName, data)
			_ = again.Close() // the program opens its own
		}
	}
	return all, err
}

// introductionOf returns the introduction of a process on this host. A user may set the address to a
// text, or to a port of this host.
func introductionOf(host, address string) introduction {
	own := introduction{Host: host, IP: ownIP()}
	if checkAddress(host) != nil {
		own.Host = "" // the system allows names that nobody can connect to
	}
	own.Address = own.IP
	if own.Address == "" {
		own.Address = own.Host
	}
	port := strings.TrimPrefix(address, ":")
	if number, err := strconv.ParseUint(port, 10, 16); err == nil && number > 0 {
		own.Address = net.JoinHostPort(own.Address, port)
	} else if address != "" {
		own.Address = address
	}
	return own
}

// ownIP returns the address of this host on its way to other networks, otherwise the first address
// that is not of this host alone.
func ownIP() string {
	for _, documented := range []string{"192.0.2.1:9", "[2001:db8::1]:9"} { // of no host; nothing is sent
		conn, err := net.Dial("udp", documented)
		if err != nil {
			continue
		}
		local, isUDP := conn.LocalAddr().(*net.UDPAddr)
		_ = conn.Close() // nothing was sent
		if isUDP && local.IP.IsGlobalUnicast() {
			return local.IP.String()
		}
	}
	if all, err := callback.Addresses(); err == nil && len(all) > 0 {
		return all[0].String()
	}
	return ""
}

// checkAddress refuses what would not be one entry of COALLOC_HOSTS.
func checkAddress(address string) error {
	isBad := func(r rune) bool { return r == ',' || r == utf8.RuneError || unicode.IsSpace(r) || !unicode.IsPrint(r) }
	switch {
	case len(address) > mostAddress:
		return fmt.Errorf("%s has more than %d bytes", addressVariable, mostAddress)
	case strings.ContainsFunc(address, isBad):
		return fmt.Errorf("%s must not contain commas, spaces and control characters: %.50q", addressVariable, address)
	}
	return nil
}

// peersOf reads the introductions of other parts. It ignores invalid ones.
func peersOf(all []rendezvous.Information) []peer {
	peers := make([]peer, 0, len(all))
	for _, each := range all {
		described := peer{Name: each.Label, Index: each.Index, Size: each.Size, FirstRank: each.FirstRank, Ended: each.Ended}
		var said introduction
		isValid := json.Unmarshal(each.Data, &said) == nil &&
			checkAddress(said.Host) == nil && checkAddress(said.IP) == nil && checkAddress(said.Address) == nil
		if isValid && !each.Ended {
			described.introduction = said
		}
		peers = append(peers, described)
	}
	return peers
}

// writePeers writes the file of peers, which all processes of the part share. Its name contains a hash
// of its content, so it never changes.
func writePeers(directory string, peers []peer) (string, error) {
	text, err := json.MarshalIndent(peers, "", "\t")
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	path := filepath.Join(directory, "peers-"+hex.EncodeToString(sum[:8])+".json")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	file, err := os.CreateTemp(directory, ".peers-*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(append(text, '\n'))
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name()) // the error says more
		return "", err
	}
	return path, nil
}
