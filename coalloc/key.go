package coalloc

import "github.com/rmctl/rmctl/internal/rendezvous"

// parseKey reads the key of an ensemble.
var parseKey = rendezvous.ParseKey
