package proxy

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

// seeds adds the texts of all cases and the frames of all sessions.
func seeds(f *testing.F) {
	for _, each := range frameCases(f) {
		f.Add(each.text)
	}
	for _, frame := range recordedFrames(f) {
		f.Add(string(frame.Append(nil)))
	}
}

// recordedFrames returns the frames of all sessions.
func recordedFrames(t testing.TB) []Frame {
	var frames []Frame
	for _, lines := range sessions(t) {
		for _, text := range lines {
			line, err := ParseLine(text)
			require.NoError(t, err)
			if !line.Closed {
				frames = append(frames, line.Frame)
			}
		}
	}
	return frames
}

func TestDecodedFramesKeepTheirMeaningWhenEncoded(t *testing.T) {
	for name, each := range frameCases(t) {
		if frame, err := parseWhole(each.text); err == nil {
			requireStable(t, name, frame)
		}
	}
	for _, frame := range recordedFrames(t) {
		requireStable(t, "", frame)
	}
}

// requireStable requires that a frame means the same after it was decoded and encoded.
func requireStable(t *testing.T, name string, frame Frame) {
	t.Helper()
	again, err := parseWhole(string(frame.Append(nil)))
	require.NoError(t, err, name)
	require.Equal(t, frame, again, name)

	command := ParseCommand(frame)
	require.Equal(t, command, ParseCommand(command.Frame()), name)

	update, err := ParseUpdate(frame)
	if err != nil {
		return
	}
	if update.Kind == model.Process && update.Parent == "" && update.Change != New {
		return // what omits the job may read as if it had one
	}
	repeated, err := ParseUpdate(update.Frame())
	require.NoError(t, err, name)
	require.Equal(t, update, repeated, name)
}

func FuzzFrames(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		reader := NewReader(byteByByte{strings.NewReader(text)})
		for {
			before := reader.offset
			frame, err := reader.Read()
			if broken, isBroken := err.(*FrameError); isBroken {
				require.GreaterOrEqual(t, broken.Offset, before)
				require.LessOrEqual(t, broken.Offset, int64(len(text)))
				require.LessOrEqual(t, len(broken.Text), 4*longestExcerpt+len("…"))
				if !broken.Ends {
					continue
				}
			}
			if err != nil {
				return
			}
			require.Equal(t, strings.ToLower(text[before:before+lengthWidth+headerWidth]), string(frame.Append(nil)[:lengthWidth+headerWidth]))
			requireStable(t, "", frame)
		}
	})
}

// byteByByte reads a byte at a time.
type byteByByte struct{ io.Reader }

func (r byteByByte) Read(into []byte) (int, error) {
	return r.Reader.Read(into[:min(1, len(into))])
}

func FuzzCommands(f *testing.F) {
	for id := range uint16(10) {
		f.Add(id, "jobId=1\x00queueId=2\x00id=3\x00operation=hold")
	}
	f.Fuzz(func(t *testing.T, id uint16, arguments string) {
		frame := Frame{ID: id, Transaction: 1, Arguments: strings.Split(arguments, "\x00")}
		requireStable(t, "", frame)
		state := &AgentState{}
		state.Receive(ParseCommand(Frame{ID: 1, Arguments: []string{"2.0", "1"}}))
		state.Receive(ParseCommand(Frame{ID: 2, Transaction: 2}))
		replies, _ := state.Receive(ParseCommand(frame))
		for _, reply := range replies {
			_, err := ParseUpdate(reply.Frame())
			require.NoError(t, err)
		}
	})
}

func FuzzUpdates(f *testing.F) {
	for id := range updateForms {
		f.Add(id, "1001\x002\x003-5\x001\x00a=b\x007\x000")
		f.Add(id, "1\x003-5\x001\x00a=b")
	}
	f.Fuzz(func(t *testing.T, id uint16, arguments string) {
		requireStable(t, "", Frame{ID: id, Transaction: 1, Arguments: strings.Split(arguments, "\x00")})
	})
}

func FuzzDefinitions(f *testing.F) {
	for _, each := range frameCases(f) {
		if frame, err := parseWhole(each.text); err == nil && len(each.Definitions) > 0 {
			f.Add(strings.Join(frame.Arguments, "\x00"))
		}
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		frame := Frame{ID: 0xfb, Transaction: 1, Arguments: strings.Split(arguments, "\x00")}
		requireStable(t, "", frame)
		update, err := ParseUpdate(frame)
		if err != nil {
			return
		}
		pictures := model.New()
		pictures.Update(func(change *model.Update) {
			for _, definition := range update.Definitions {
				if converted, err := definition.Model(); err == nil && change.Define(*converted) == nil {
					back, err := DefinitionOf(converted).Model()
					require.NoError(t, err)
					require.Equal(t, converted.ID, back.ID)
				}
			}
		})
	})
}

func FuzzIDs(f *testing.F) {
	for _, text := range []string{"", "7", "1-3,9", "7-3", "1-2-3", "job.7", "1,,2", "18446744073709551615", "0-18446744073709551615", "007", "1-10,4-12,3"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids, err := ParseIDs(text)
		if err != nil {
			require.Zero(t, ids)
			return
		}
		again, err := ParseIDs(ids.String())
		require.NoError(t, err)
		require.Equal(t, ids, again)
		count := 0
		for range ids.All() {
			count++
		}
		require.Equal(t, ids.Len(), count)
		require.LessOrEqual(t, count, mostIDs)
	})
}
