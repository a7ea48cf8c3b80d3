package rendezvous

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"time"
)

// A Dial opens a connection to the co-allocator.
type Dial func(ctx context.Context) (net.Conn, error)

// An Identity is what a process says about itself.
type Identity struct {
	Instance string // as of [NewInstance]
	Host     string
	Rank     int // -1: the co-allocator numbers processes in the order in which they arrive
	Size     int // processes that the launcher started; 0: unknown
}

// NewInstance returns a random id. A process keeps its id when it connects again.
func NewInstance() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // it never fails
	return hex.EncodeToString(id[:])
}

// A Vote of a process says whether it can run.
type Vote struct {
	No     bool
	Reason string
}

// An AbortError says that the process must not run.
type AbortError struct{ Reason string }

// Error returns the reason.
func (e *AbortError) Error() string { return "the co-allocator ended this process: " + e.Reason }

// A RefusedError says that the co-allocator does not count this process.
type RefusedError struct{ Reason string }

// Error returns the reason.
func (e *RefusedError) Error() string { return "the co-allocator refused this process: " + e.Reason }

// CheckIn checks a process in at the barrier, and waits for the release. It reconnects until ctx is done. The
// process must not run before CheckIn returns nil. Errors are *[AbortError], *[RefusedError], [ErrDenied] and
// those of ctx, with the last problem. The caller closes the session.
func CheckIn(ctx context.Context, dial Dial, pass *Pass, identity Identity, vote Vote) (*Session, error) {
	want := wantOf(purposeCheckIn, identity)
	want.No, want.Reason = vote.No, vote.Reason
	return persist(ctx, func() (*Session, error) { return checkInOnce(ctx, dial, pass, want) })
}

// persist tries to open a session until ctx is done, or further attempts are useless.
func persist(ctx context.Context, try func() (*Session, error)) (*Session, error) {
	pause := shortestPause
	var problem error // the last one that is not the end of ctx
	for {
		began := time.Now()
		session, err := try()
		if err == nil || isFinal(err) {
			return session, err
		}
		if problem == nil || !isOver(ctx) {
			problem = err
		}
		if time.Since(began) > longestPause {
			pause = shortestPause
		}
		// Thousands of processes connect again at the same time: they spread over the pause.
		timer := time.NewTimer(mathrand.N(pause) + shortestPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("%w; the last attempt to reach the co-allocator: %w", ctx.Err(), problem)
		}
		pause = min(2*pause, longestPause)
	}
}

// isOver reports whether a context has ended or is about to end: a dialer may notice its deadline first.
func isOver(ctx context.Context) bool {
	deadline, isLimited := ctx.Deadline()
	return ctx.Err() != nil || isLimited && !time.Now().Before(deadline)
}

func wantOf(purpose string, identity Identity) frame {
	return frame{
		Purpose: purpose, Instance: identity.Instance, Host: bounded(identity.Host, 255),
		HasRank: identity.Rank >= 0, Rank: max(identity.Rank, 0), Size: identity.Size,
	}
}

// isFinal reports whether further attempts are useless.
func isFinal(err error) bool {
	var abort *AbortError
	var refused *RefusedError
	return errors.As(err, &abort) || errors.As(err, &refused) || errors.Is(err, ErrDenied)
}

func checkInOnce(ctx context.Context, dial Dial, pass *Pass, want frame) (*Session, error) {
	conn, answer, err := connect(ctx, dial, pass, want)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.NetConn().Close() })
	if err := awaitRelease(conn); err != nil {
		stop()
		_ = conn.NetConn().Close() // nothing is lost with it
		return nil, err
	}
	if !stop() {
		return nil, ctx.Err()
	}
	return newSession(conn, answer.Rank, answer.Arranged, pass), nil
}

// connect proves the process, and returns what the co-allocator answers.
func connect(ctx context.Context, dial Dial, pass *Pass, want frame) (*tls.Conn, *frame, error) {
	limited, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	conn, err := dial(limited)
	if err != nil {
		return nil, nil, err
	}
	secured, answer, err := prove(limited, conn, pass, want)
	if err == nil {
		switch answer.Kind {
		case kindAccepted:
			return secured, answer, nil
		case kindAbort:
			err = &AbortError{answer.Reason}
		case kindRefused:
			err = &RefusedError{answer.Reason}
		case kindLater:
			err = errUnknownPart
		default:
			err = fmt.Errorf("%w: %.20q", errOutOfOrder, answer.Kind)
		}
	}
	_ = conn.Close() // the error says more
	return nil, nil, err
}

// awaitRelease waits for the release, and confirms it.
func awaitRelease(conn *tls.Conn) error {
	for {
		if err := conn.SetReadDeadline(time.Now().Add(silence)); err != nil {
			return err
		}
		f, err := readFrame(conn, 0)
		if err != nil {
			return err
		}
		switch f.Kind {
		case kindPing:
			if err := write(conn, &frame{Kind: kindPong, ID: f.ID}); err != nil {
				return err
			}
		case kindRelease:
			_ = write(conn, &frame{Kind: kindReceived}) // the release counts without it
			return conn.SetReadDeadline(time.Time{})
		case kindAbort:
			return &AbortError{f.Reason}
		case kindRefused:
			return &RefusedError{f.Reason}
		default:
			return fmt.Errorf("%w: %.20q", errOutOfOrder, f.Kind)
		}
	}
}
