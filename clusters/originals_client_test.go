package clusters_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rmctltest"
)

// originalClient is the client, which prints its events as lines.
type originalClient struct {
	input io.WriteCloser
	lines chan string
	seen  []string
	jobs  map[int]map[string]string // attributes by id, from the events
}

func startOriginalClient(t *testing.T, d *rmctltest.Desk, build, agent string) *originalClient {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, "java", "-cp", filepath.Join(build, "classes"), original(t, "Client.java"), agent)
	command.Env, command.Dir, command.Stderr = d.Environment, d.Home, os.Stderr
	input, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	c := &originalClient{input: input, lines: make(chan string), jobs: map[int]map[string]string{}}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			select {
			case c.lines <- lines.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-read
		_ = command.Wait() // it was killed
	})
	return c
}

// sends gives the client a command.
func (c *originalClient) sends(t *testing.T, words ...string) {
	t.Helper()
	_, err := io.WriteString(c.input, strings.Join(words, "\t")+"\n")
	require.NoError(t, err)
}

// gets waits for an event that matches an expression, and returns its groups. Each event counts once.
func (c *originalClient) gets(t *testing.T, expression string) []string {
	t.Helper()
	wanted := regexp.MustCompile(expression)
	for i, line := range c.seen {
		if groups := wanted.FindStringSubmatch(line); groups != nil {
			c.seen = append(c.seen[:i:i], c.seen[i+1:]...)
			return groups
		}
	}
	for {
		line := c.next(t, expression)
		if groups := wanted.FindStringSubmatch(line); groups != nil {
			return groups
		}
		c.seen = append(c.seen, line)
	}
}

// next returns the next event, while something is waited for.
func (c *originalClient) next(t *testing.T, wanted string) string {
	t.Helper()
	patience := time.NewTimer(2 * time.Minute)
	defer patience.Stop()
	select {
	case line := <-c.lines:
		c.learn(t, strings.Split(line, "\t"))
		return line
	case <-patience.C:
		require.FailNow(t, "nothing more comes: "+wanted, "%s\njobs: %v", strings.Join(c.seen, "\n"), c.jobs)
		return ""
	}
}

// learn applies an event about jobs.
func (c *originalClient) learn(t *testing.T, words []string) {
	t.Helper()
	switch words[0] {
	case "ProxyRuntimeRemoveJobEvent":
		for _, id := range numbers(t, words[1]) {
			delete(c.jobs, id)
		}
		return
	case "ProxyRuntimeNewJobEvent":
		words = words[1:] // after the queue
	case "ProxyRuntimeJobChangeEvent":
	default:
		return
	}
	for groups := words[2:]; len(groups) > 0; {
		count := numbers(t, groups[1])[0]
		for _, id := range numbers(t, groups[0]) {
			if c.jobs[id] == nil {
				c.jobs[id] = map[string]string{}
			}
			for _, attribute := range groups[2 : 2+count] {
				name, value, _ := strings.Cut(attribute, "=")
				c.jobs[id][name] = value
			}
		}
		groups = groups[2+count:]
	}
}

// numbers returns the numbers of a range set.
func numbers(t *testing.T, set string) (all []int) {
	t.Helper()
	for part := range strings.SplitSeq(set, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		require.NoError(t, err)
		last, err := strconv.Atoi(to)
		require.NoError(t, err)
		for number := first; number <= last; number++ {
			all = append(all, number)
		}
	}
	return all
}

// submits submits a shell script as a job.
func (c *originalClient) submits(t *testing.T, d *rmctltest.Desk, submission, script string) {
	t.Helper()
	c.sends(t, "submit", "jobSubId="+submission, "execName=sh", "execPath=/bin", "workingDir="+d.Home, "progArgs=-c", "progArgs="+script)
}

// awaits waits until the job of a submission has a state, and returns its id. A job that was
// moved to another queue has another id.
func (c *originalClient) awaits(t *testing.T, submission, state string) string {
	t.Helper()
	for {
		for id, job := range c.jobs {
			if job["jobSubId"] == submission && job["jobState"] == state {
				return strconv.Itoa(id)
			}
		}
		c.seen = append(c.seen, c.next(t, submission+" "+state))
	}
}

// useAgent runs a whole session.
func (c *originalClient) useAgent(t *testing.T, d *rmctltest.Desk) {
	t.Helper()
	c.gets(t, `^ProxyRuntimeRunningStateEvent`)
	c.sends(t, "start")
	machine := c.gets(t, `^ProxyRuntimeNewMachineEvent\t16777216\t1\t(\d+)\t.*machineState=`)[1]
	c.gets(t, `^ProxyRuntimeNewQueueEvent\t16777216\t.*queueState=NORMAL`)
	c.gets(t, `^ProxyRuntimeNewNodeEvent\t`+machine+`\t.*nodeState=UP`)

	c.submits(t, d, "JOB_1", "sleep 3; echo done")
	c.awaits(t, "JOB_1", "RUNNING")
	c.awaits(t, "JOB_1", "COMPLETED")

	c.sends(t, "submit", "jobSubId=JOB_2", "execName=sh", "execPath=/bin", "workingDir="+d.Home, "queueId=no-such-queue")
	c.gets(t, `^ProxyRuntimeSubmitJobErrorEvent\t.*jobSubId=JOB_2\t.*errorMsg=.`)

	c.submits(t, d, "JOB_3", "sleep 600")
	job := c.awaits(t, "JOB_3", "RUNNING")
	c.sends(t, "terminate", job)
	job = c.awaits(t, "JOB_3", "COMPLETED")
	number, err := strconv.Atoi(job)
	require.NoError(t, err)
	require.Contains(t, d.Does("status", "--fresh", "--json", c.jobs[number]["jobId"]), `"detail":"CANCELED"`)
	c.sends(t, "terminate", job)
	c.gets(t, `^ProxyRuntimeTerminateJobErrorEvent\t.*jobId=`+job+`\t.*errorMsg=.`)

	c.sends(t, "stop")
	c.sends(t, "start")
	c.gets(t, `^ProxyRuntimeNewMachineEvent\t16777216\t1\t`+machine+`\t`)
	c.sends(t, "quit")
	c.gets(t, `^ProxyRuntimeShutdownStateEvent`)
	require.NoError(t, c.input.Close())
	c.gets(t, `^agent exited with code 0$`)
}
