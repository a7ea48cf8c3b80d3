package sdm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/debug"
)

// A stop that a rank reports before it answers GO is reported after the answer.
func TestTheAnswerOfGoComesBeforeTheStop(t *testing.T) {
	c := startMaster(t, 2, func(f *fake, request debug.Request) (*debug.Answer, []debug.Notice) {
		if request.Verb == debug.Continue {
			f.report(running())
			f.report(stoppedAt(debug.ReasonStep, "work", 5))
			return &debug.Answer{}, nil
		}
		return play{}.answer(f, request)
	})
	c.start("2:03")
	c.send(10, 7, "2:03")
	c.expect(eventOK, 7, "2:03")
	c.expect(eventSuspend, 7, "2:03", "2", "0", "app.c", "work", "0x0000000000000000", "5", "1", "2", "0")
}

// Ranks that are silent do not keep back the stops of others.
func TestASilentRankDoesNotDelayTheStopsOfOthers(t *testing.T) {
	c := startMaster(t, 2, func(f *fake, request debug.Request) (*debug.Answer, []debug.Notice) {
		switch {
		case request.Verb == debug.Continue && f.rank == 1:
			return nil, nil
		case request.Verb == debug.Continue:
			return answerOK(running(), stoppedAt(debug.ReasonStep, "work", 5))
		}
		return play{}.answer(f, request)
	})
	c.start("2:03")
	c.send(10, 7, "2:03")
	c.expect(eventOK, 7, "2:01")
	c.expect(eventSuspend, 7, "2:01", "2", "0", "app.c", "work", "0x0000000000000000", "5", "1", "2", "0")
	c.send(13, 8, "2:01") // overtakes GO, which waits for the other rank
	c.expect(eventError, 8, "2:01", "19", "The program is not being run")
	require.Equal(t, debug.Continue, c.fakes[1].last(debug.Continue).Verb)
}
