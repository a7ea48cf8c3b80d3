package record

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/rmctl/rmctl/internal/lazyregexp"
	"github.com/rmctl/rmctl/remote"
)

// introduction is the time limit for a place to describe itself. Names that it does not
// give in time are not replaced.
const introduction = 20 * time.Second

var numberAndName = lazyregexp.New(`(\d+)\(([^()]+)\)`)

// Introduce learns the user, its groups and their numbers, the home directory, the host
// and its domain. What the place does not print stays unknown.
func (a *Anonymizer) Introduce(ctx context.Context, connection remote.Connection) {
	info := connection.Info()
	a.Person(info.User, info.Home)
	a.Place(info.Host)
	if full := printed(ctx, connection, "hostname", "-f"); strings.HasPrefix(full, info.Host+".") {
		a.learnDomain(strings.TrimPrefix(full, info.Host+"."))
	}
	user, groups, _ := strings.Cut(printed(ctx, connection, "id"), " ")
	for _, found := range numberAndName.FindAllStringSubmatch(user, -1) {
		a.learn(kindUserID, found[1])
	}
	for _, found := range numberAndName.FindAllStringSubmatch(groups, -1) {
		a.learn(kindGroupID, found[1])
		a.learn(kindGroup, found[2])
	}
}

// printed returns the output of a command; empty if it fails.
func printed(ctx context.Context, connection remote.Connection, words ...string) string {
	ctx, cancel := context.WithTimeout(ctx, introduction)
	defer cancel()
	output := &captured{limit: 64 << 10}
	process, err := connection.Start(ctx, remote.Command{Arguments: words, Environment: map[string]string{"LC_ALL": "C"}, Stdout: output})
	if err != nil {
		return ""
	}
	if code, err := process.Wait(); code != 0 || err != nil {
		return ""
	}
	text, _ := output.bytes()
	return string(bytes.TrimSpace(text))
}
