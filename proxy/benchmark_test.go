package proxy

import (
	"bytes"
	"io"
	"strconv"
	"testing"

	"github.com/rmctl/rmctl/model"
)

// jobChange returns an update of one job with ten attributes.
func jobChange(id uint64) Update {
	number := strconv.FormatUint(id, 10)
	return Update{
		Change: Changed, Kind: model.Job, Transaction: 3,
		Groups: []Group{{IDs: IDsOf(id), Attributes: Attributes{
			{"name", "simulate-" + number}, {"jobState", "RUNNING"}, {"jobStatus", "RUNNING"}, {"userId", "alice"}, {"jobNumProcs", "128"},
			{"execName", "simulate"}, {"execPath", "/home/alice/bin"}, {"workingDir", "/scratch/alice/run-" + number}, {"started", "2026-03-01T12:00:00Z"}, {"jobId", number},
		}}},
	}
}

func BenchmarkDecode(b *testing.B) {
	stream := streamOf(1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		reader := NewReader(bytes.NewReader(stream))
		for {
			frame, err := reader.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			if update, err := ParseUpdate(frame); err != nil || len(update.Groups) != 1 {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	updates := make([]Update, 1000)
	for i := range updates {
		updates[i] = jobChange(16777216 + uint64(i))
	}
	b.SetBytes(int64(len(streamOf(len(updates)))))
	b.ReportAllocs()
	writer := NewWriter(io.Discard)
	for b.Loop() {
		for _, update := range updates {
			if err := writer.Write(update.Frame()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// streamOf returns the bytes of a number of frames.
func streamOf(frames int) []byte {
	var stream []byte
	for i := range frames {
		stream = jobChange(16777216 + uint64(i)).Frame().Append(stream)
	}
	return stream
}
