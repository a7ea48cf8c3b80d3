package jobstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"

	"github.com/rmctl/rmctl/internal/stored"
)

// A pendingWrite is a change that waits to be written.
type pendingWrite struct {
	ctx     context.Context
	lasting durability
	change  stored.Change
	done    chan error // gets the outcome; has room for it
}

// writeQueue holds the changes that wait, oldest first.
type writeQueue struct {
	lock    sync.Mutex
	pending []*pendingWrite
}

func (q *writeQueue) add(one *pendingWrite) {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.pending = append(q.pending, one)
}

// remove removes a change and reports whether it was still waiting.
func (q *writeQueue) remove(one *pendingWrite) bool {
	q.lock.Lock()
	defer q.lock.Unlock()
	before := len(q.pending)
	q.pending = slices.DeleteFunc(q.pending, func(each *pendingWrite) bool { return each == one })
	return len(q.pending) < before
}

// largestGroup bounds how many changes share a transaction, and so how long
// other processes wait for it.
const largestGroup = 64

// next removes and returns the changes to write next.
func (q *writeQueue) next() []*pendingWrite {
	q.lock.Lock()
	defer q.lock.Unlock()
	count := min(len(q.pending), largestGroup)
	pending := slices.Clone(q.pending[:count])
	q.pending = slices.Delete(q.pending, 0, count)
	return pending
}

// writeTogether commits changes in one transaction and gives each its outcome: a
// change that fails is undone, and the others are not.
func (s *Store) writeTogether(group []*pendingWrite) {
	outcomes := make([]error, len(group))
	err := s.transact(group, outcomes)
	for i, one := range group {
		if outcomes[i] == nil {
			outcomes[i] = err
		}
		one.done <- explained(outcomes[i])
	}
}

// transact returns why nothing was committed; outcomes gets the errors of single changes.
func (s *Store) transact(group []*pendingWrite, outcomes []error) (err error) {
	if len(group) == 0 {
		return nil
	}
	// One change alone ends with its context; several must not end with that of one.
	ctx := group[0].ctx
	if len(group) > 1 {
		ctx = context.WithoutCancel(ctx)
	}
	connection, err := s.database.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	lasting := processed
	if slices.ContainsFunc(group, func(one *pendingWrite) bool { return one.lasting == durable }) {
		lasting = durable
	}
	if _, err := connection.ExecContext(ctx, "PRAGMA synchronous = "+string(lasting)); err != nil {
		return err
	}
	transaction, err := connection.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if len(group) == 1 {
		err = group[0].change(ctx, transaction)
	} else {
		err = changeEach(ctx, transaction, group, outcomes)
	}
	if err != nil {
		rollback := transaction.Rollback()
		if errors.Is(rollback, sql.ErrTxDone) {
			rollback = nil // the end of the context has rolled it back
		}
		return errors.Join(err, rollback)
	}
	return transaction.Commit()
}

// changeEach makes each change of a group, or none of it. A change is not cut off
// by the end of its own context: SQLite undoes the whole transaction when it
// interrupts a statement that writes.
func changeEach(ctx context.Context, transaction *sql.Tx, group []*pendingWrite, outcomes []error) error {
	for i, one := range group {
		if outcomes[i] = one.ctx.Err(); outcomes[i] != nil {
			continue
		}
		if _, err := transaction.ExecContext(ctx, "SAVEPOINT change"); err != nil {
			return err
		}
		outcomes[i] = one.change(ctx, transaction)
		if outcomes[i] != nil {
			if _, err := transaction.ExecContext(ctx, "ROLLBACK TO change"); err != nil {
				return err
			}
		}
		if _, err := transaction.ExecContext(ctx, "RELEASE change"); err != nil {
			return err
		}
	}
	return nil
}
