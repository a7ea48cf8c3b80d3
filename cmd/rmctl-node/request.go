package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The requests of a session.
const (
	requestStructure = "structure"
	requestSend      = "send"
	requestReceive   = "receive"
	requestExchange  = "exchange"
)

const (
	mostTag     = 256
	mostTimeout = 366 * 24 * 3600 // seconds
)

// A sessionRequest is a line of stdin.
type sessionRequest struct {
	ID       int64   `json:"id"`
	Request  string  `json:"request"`
	To       *int    `json:"to"`     // address of a part
	ToRank   *int    `json:"toRank"` // rank in this part
	From     *int    `json:"from"`
	FromRank *int    `json:"fromRank"`
	Tag      string  `json:"tag"`
	Name     string  `json:"name"` // of an exchange
	Data     []byte  `json:"data"`
	Timeout  float64 `json:"timeout"` // in seconds; 0: none
}

func (r *sessionRequest) limit() time.Duration {
	return time.Duration(r.Timeout * float64(time.Second))
}

// parseRequest reads a line. If it is not valid, the request has at most its number.
func parseRequest(line []byte) (sessionRequest, error) {
	var r sessionRequest
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&r)
	if err == nil && decoder.More() {
		err = errors.New("a line must hold one request")
	}
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return sessionRequest{ID: r.ID}, fmt.Errorf("invalid request: %w", err)
	}
	return r, nil
}

// fieldsOf are the fields that a request may have, beside its number.
var fieldsOf = map[string][]string{
	requestStructure: {"timeout"},
	requestSend:      {"to", "toRank", "tag", "data"},
	requestReceive:   {"from", "fromRank", "tag", "timeout"},
	requestExchange:  {"name", "data", "timeout"},
}

// check refuses invalid requests.
func (r *sessionRequest) check() error {
	allowed, isKnown := fieldsOf[r.Request]
	switch {
	case r.ID <= 0:
		return errors.New("id must be a number above 0")
	case !isKnown:
		return fmt.Errorf("unknown request %.40q", r.Request)
	}
	for _, field := range []struct {
		name  string
		isSet bool
	}{
		{"to", r.To != nil}, {"toRank", r.ToRank != nil}, {"from", r.From != nil}, {"fromRank", r.FromRank != nil},
		{"tag", r.Tag != ""}, {"name", r.Name != ""}, {"data", r.Data != nil}, {"timeout", r.Timeout != 0},
	} {
		if field.isSet && !slices.Contains(allowed, field.name) {
			return fmt.Errorf("%s does not take %s", r.Request, field.name)
		}
	}
	return r.checkValues()
}

func (r *sessionRequest) checkValues() error {
	switch {
	case r.Request == requestSend && (r.To == nil) == (r.ToRank == nil):
		return errors.New("send requires either to or toRank")
	case r.From != nil && r.FromRank != nil:
		return errors.New("receive takes either from or fromRank")
	case len(r.Tag) > mostTag || len(r.Name) > mostTag:
		return fmt.Errorf("tags and names have at most %d bytes", mostTag)
	case len(r.Data) > mostMessage:
		return fmt.Errorf("a message has at most %d bytes", mostMessage)
	case r.Timeout < 0 || r.Timeout > mostTimeout:
		return errors.New("invalid timeout")
	}
	return nil
}
