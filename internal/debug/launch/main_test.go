package launch_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rmctl/rmctl/debug"
	"github.com/rmctl/rmctl/internal/tree"
)

// Variables that make the test binary a process that plays the debuggers of many ranks.
const (
	playedRanks     = "RMCTL_TEST_PLAYED_RANKS"
	playedDirectory = "RMCTL_TEST_PLAYED_DIRECTORY"
)

func TestMain(m *testing.M) {
	if count, err := strconv.Atoi(os.Getenv(playedRanks)); err == nil {
		playRanks(count, os.Getenv(playedDirectory))
		return
	}
	os.Exit(m.Run())
}

// playRanks plays ranks until rmctl is gone.
func playRanks(count int, directory string) {
	var ranks sync.WaitGroup
	dialing := make(chan struct{}, 64)
	for rank := range count {
		dialing <- struct{}{}
		ranks.Go(func() {
			conn := dialUntilServed(directory)
			<-dialing
			playRank(conn, rank, count)
		})
	}
	ranks.Wait()
}

func dialUntilServed(directory string) net.Conn {
	for {
		conn, err := tree.DialStream(context.Background(), directory)
		if err == nil {
			return conn
		}
		<-time.After(20 * time.Millisecond)
	}
}

// playRank answers requests for stacks: with Count 1 all ranks have the same, otherwise each has another line.
func playRank(conn net.Conn, rank, size int) {
	defer conn.Close() // all was written
	say := func(number int, value any) {
		text, err := json.Marshal(value)
		if err == nil {
			_, err = fmt.Fprintf(conn, "%d %s\n", number, text)
		}
		if err != nil {
			os.Exit(1)
		}
	}
	say(0, debug.Notice{Report: debug.ReportHello, Hello: &debug.Hello{Version: debug.ProtocolVersion, Rank: rank, Size: size, Host: "node", Debugger: "fake"}})
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		digits, body, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.Atoi(digits)
		var request debug.Request
		if err != nil || json.Unmarshal([]byte(body), &request) != nil {
			os.Exit(1)
		}
		line := 88
		if request.Thread == differentThread {
			line = rank
		}
		var answer debug.Answer
		if request.Verb == debug.Stack {
			for depth := range 12 {
				answer.Frames = append(answer.Frames, debug.Frame{Function: fmt.Sprintf("level_%d", depth), File: fmt.Sprintf("/home/ada/solver/level_%d.c", depth), Line: line + depth})
			}
		}
		say(number, answer)
	}
}

// differentThread is the thread whose stacks differ between ranks.
const differentThread = 2
