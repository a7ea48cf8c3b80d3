package daemon

import (
	"context"
	"maps"
	"strings"

	"github.com/rmctl/rmctl/remote"
)

// A userEnvironment is a connection to this machine whose processes get the environment of a
// user's shell instead of that of this process.
type userEnvironment struct {
	remote.Connection
	variables map[string]string
}

// InEnvironment sets the environment of processes of a connection to this machine, assignments
// NAME=value.
func InEnvironment(connection remote.Connection, assignments []string) remote.Connection {
	return userEnvironment{connection, Assigned(assignments)}
}

// Start implements [remote.Connection].
func (u userEnvironment) Start(ctx context.Context, command remote.Command) (remote.Handle, error) {
	environment := map[string]string{}
	if command.ReplaceEnvironment {
		for _, name := range command.Keep {
			if value, set := u.variables[name]; set {
				environment[name] = value
			}
		}
	} else {
		maps.Copy(environment, u.variables)
		for _, name := range command.Unset {
			delete(environment, name)
		}
		if command.Terminal != nil {
			environment["TERM"] = command.Terminal.Type
		}
	}
	maps.Copy(environment, command.Environment)
	command.Environment, command.ReplaceEnvironment, command.Keep, command.Unset = environment, true, nil, nil
	return u.Connection.Start(ctx, command)
}

// Assigned returns the variables of assignments NAME=VALUE.
func Assigned(assignments []string) map[string]string {
	variables := make(map[string]string, len(assignments))
	for _, assignment := range assignments {
		if name, value, found := strings.Cut(assignment, "="); found && name != "" {
			variables[name] = value
		}
	}
	return variables
}
