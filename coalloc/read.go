package coalloc

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/document"
	"github.com/rmctl/rmctl/internal/settings"
)

// maxRequest bounds the text of a request.
const maxRequest = 16 << 20

// Sources resolve the names in the text of a request. With the zero value, names of launch configurations are
// errors, and contacts are names of targets.
type Sources struct {
	// Launch loads a launch configuration.
	Launch func(name string) (*settings.LaunchConfiguration, error)
	// Targets are where contacts of RSL are looked up.
	Targets *settings.Targets
	// Variables returns the variables that RSL has on a target, such as HOME. It is called only for parts that
	// refer to variables that they do not define.
	Variables func(ctx context.Context, target string) (map[string]string, error)
}

// A Format is a language of requests.
type Format string

// The formats.
const (
	TOML Format = "TOML"
	JSON Format = "JSON"
	RSL  Format = "RSL"
)

// FormatOf guesses the language of a text from its beginning.
func FormatOf(text []byte) Format {
	trimmed := strings.TrimLeft(string(text[:min(len(text), 1<<16)]), " \t\r\n\v\f\ufeff")
	switch {
	case strings.HasPrefix(trimmed, "{"):
		return JSON
	case strings.HasPrefix(trimmed, "+"), strings.HasPrefix(trimmed, "&"), strings.HasPrefix(trimmed, "|"), strings.HasPrefix(trimmed, "("):
		return RSL
	}
	return TOML
}

// ReadRequest reads a request in TOML, JSON or RSL. The error lists all mistakes of the text with their places.
// A mistake in a single part of RSL becomes the Problem of that part, because other parts may continue without
// it.
func ReadRequest(ctx context.Context, text []byte, from Sources) (*Request, error) {
	return read(ctx, text, from, false)
}

// ReadParts reads parts that are added to an ensemble or replace a part: a request without settings of the whole
// request, or a single component of RSL.
func ReadParts(ctx context.Context, text []byte, from Sources) ([]Part, error) {
	r, err := read(ctx, text, from, true)
	if err != nil {
		return nil, err
	}
	if r.Name != "" || r.HoldFirst || r.DryRun || len(r.Sets) > 0 || r.Limits != (Limits{}) {
		return nil, errors.New("only parts can be added to an ensemble, not settings of the whole request")
	}
	return r.Parts, nil
}

func read(ctx context.Context, text []byte, from Sources, isEdit bool) (*Request, error) {
	r, err := parse(ctx, text, from, isEdit)
	if err != nil {
		return nil, err
	}
	if len(r.Parts) == 0 {
		return nil, errors.New("the request has no parts\nadd a table [part.NAME] for each")
	}
	return r, nil
}

func parse(ctx context.Context, text []byte, from Sources, isEdit bool) (*Request, error) {
	if len(text) > maxRequest {
		return nil, fmt.Errorf("the request has more than %d bytes", maxRequest)
	}
	switch FormatOf(text) {
	case JSON:
		table, err := document.ParseJSON(text)
		if err != nil {
			return nil, err
		}
		return readTable(table, from)
	case RSL:
		return readRSL(ctx, text, from, isEdit)
	}
	table, err := document.ParseTOML(text)
	if err != nil {
		return nil, err
	}
	return readTable(table, from)
}
