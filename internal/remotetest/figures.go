package remotetest

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/remote"
)

// Figures measures commands over a connection that is warm, for
// docs/operate/performance.md: one beside a bare round trip of the same connection, in
// turn, so that a machine whose speed drifts slows both; and a thousand of them.
func Figures(b *testing.B, connection remote.Connection) {
	runTrue(b, connection) // the first one makes what the others use
	b.Run("OneBesideARoundTrip", func(b *testing.B) { besideRoundTrips(b, connection) })
	b.Run("Thousand", func(b *testing.B) { thousand(b, connection, 1) })
	b.Run("ThousandByEight", func(b *testing.B) { thousand(b, connection, 8) })
}

// besideRoundTrips reports medians in milliseconds. A round trip is that of a
// byte to a program that sends it back.
func besideRoundTrips(b *testing.B, connection remote.Connection) {
	there, input := io.Pipe()
	output, back := io.Pipe()
	echo, err := connection.Start(b.Context(), remote.Command{Arguments: []string{"cat"}, Stdin: there, Stdout: back})
	require.NoError(b, err)
	roundTrip := func() {
		_, err := input.Write([]byte{1})
		require.NoError(b, err)
		_, err = io.ReadFull(output, make([]byte, 1))
		require.NoError(b, err)
	}
	roundTrip()
	var trips, commands, differences []float64
	for b.Loop() {
		trip := milliseconds(roundTrip)
		command := milliseconds(func() { runTrue(b, connection) })
		trips, commands, differences = append(trips, trip), append(commands, command), append(differences, command-trip)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(trips), "ms-roundtrip")
	b.ReportMetric(median(commands), "ms-command")
	b.ReportMetric(median(differences), "ms-beyond")
	require.NoError(b, input.Close())
	_, err = echo.Wait()
	require.NoError(b, err)
}

func milliseconds(work func()) float64 {
	start := time.Now()
	work()
	return float64(time.Since(start).Microseconds()) / 1000
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// thousand runs a thousand commands, so many at once.
func thousand(b *testing.B, connection remote.Connection, atOnce int) {
	for b.Loop() {
		left := make(chan struct{}, 1000)
		for range cap(left) {
			left <- struct{}{}
		}
		close(left)
		var group sync.WaitGroup
		for range atOnce {
			group.Go(func() {
				for range left {
					runTrue(b, connection)
				}
			})
		}
		group.Wait()
	}
}

// runTrue runs a command with both outputs, as those of definitions have them.
func runTrue(b *testing.B, connection remote.Connection) {
	var stdout, stderr bytes.Buffer
	process, err := connection.Start(b.Context(), remote.Command{Arguments: []string{"true"}, Stdout: &stdout, Stderr: &stderr})
	if err != nil {
		b.Error(err)
		return
	}
	if code, err := process.Wait(); err != nil || code != 0 {
		b.Errorf("code %d: %v", code, err)
	}
}
