package coalloc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/rmctl/rmctl/internal/barrier"
	"github.com/rmctl/rmctl/internal/rendezvous"
)

// Record records an ensemble and makes its keys, and returns its id. It submits nothing: [Resume]
// runs it, in this process or in another one that has the same state folder. The error is ErrRecorded if the request has the
// id of an ensemble that is on record.
func Record(ctx context.Context, client Client, r *Request) (id string, err error) {
	if r.DryRun {
		return "", errDryRun
	}
	ensemble, parts, err := recordOf(r, time.Now())
	if err != nil {
		return "", err
	}
	key, err := rendezvous.NewKey()
	if err != nil {
		return "", err
	}
	text, err := key.Encode()
	if err != nil {
		return "", err
	}
	ensemble.ID = cmp.Or(r.ID, NewID())
	if err := create(ctx, client, ensemble, parts, text); err != nil {
		return "", err
	}
	return ensemble.ID, nil
}

// withdrawn is the reason of an ensemble that was withdrawn before it was submitted.
const withdrawn = "withdrawn before its submission"

// Withdraw prevents later submissions with an id: it records a canceled ensemble. If an ensemble is on record
// already, the error is ErrRecorded.
func Withdraw(ctx context.Context, client Client, id string) error {
	if !isID(id) {
		return invalidID(id)
	}
	now := time.Now()
	return create(ctx, client, barrier.Ensemble{ID: id, State: Canceled, Outcome: Canceled, Reason: withdrawn, Created: now, Ended: now}, nil, nil)
}

// create records a new ensemble, with its keys unless it has ended. If several processes try, one succeeds.
func create(ctx context.Context, client Client, ensemble barrier.Ensemble, parts []barrier.Part, key []byte) (err error) {
	store, err := client.Store(ctx)
	if err != nil {
		return err
	}
	state, err := client.StateFolder()
	if err != nil {
		return err
	}
	if err := refuseRecorded(readSaved(ctx, store, ensemble.ID)); err != nil {
		return err // a process that runs it has the lock
	}
	folder := folderOf(state, ensemble.ID)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the folder of the ensemble: %w", err)
	}
	unlock, err := lock(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	err = refuseRecorded(readSaved(ctx, store, ensemble.ID))
	if errors.Is(err, ErrRecorded) {
		return err
	}
	if err == nil && key != nil {
		err = writeKey(folder, key)
	}
	if err == nil {
		err = store.Journal().Create(ctx, ensemble, parts)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(folder))
	}
	sweep(ctx, store, state, time.Now())
	return nil
}

// refuseRecorded returns an error unless reading an ensemble showed that it is not on record.
func refuseRecorded(_ any, err error) error {
	switch {
	case err == nil:
		return ErrRecorded
	case errors.Is(err, ErrUnknownEnsemble):
		return nil
	}
	return err
}
