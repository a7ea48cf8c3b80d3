package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// Environment variables with which a test controls rmctl: the number of the fault
// point at which rmctl kills itself, and the file for the names of the points before.
const (
	faultPoint = "RMCTL_TEST_FAULT_POINT"
	faultTrace = "RMCTL_TEST_FAULT_TRACE"
)

// rmctlCode is mainCode, which the variables may make kill itself half-way.
func rmctlCode() int {
	number, err := strconv.ParseInt(os.Getenv(faultPoint), 10, 64)
	if err != nil {
		return mainCode(testSite())
	}
	trace, err := os.OpenFile(os.Getenv(faultTrace), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	f := &faults{at: number, trace: trace}
	a := &app{stdin: os.Stdin, stdout: &faultyWriter{f, "printing", os.Stdout}, stderr: os.Stderr, siteFolder: testSite(), wrapConnection: func(connection remote.Connection) remote.Connection {
		return &faultyConnection{connection, f}
	}}
	root := newRoot(a)
	root.SetArgs(os.Args[1:])
	root.SetOut(a.stdout)
	err = root.ExecuteContext(context.Background())
	return a.report(errors.Join(err, a.close()))
}

// faults kills the process at one of the points that it comes past.
type faults struct {
	at     int64
	passed atomic.Int64
	trace  *os.File
}

func (f *faults) point(name string) {
	number := f.passed.Add(1)
	_, _ = fmt.Fprintln(f.trace, name) // only for messages of the test
	if number != f.at {
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// around passes a point before and one after a step.
func (f *faults) around(step string, do func()) {
	f.point("before " + step)
	do()
	f.point("after " + step)
}

// A faultyConnection has a point before and after everything that is done over it.
type faultyConnection struct {
	remote.Connection
	faults *faults
}

func (c *faultyConnection) Start(ctx context.Context, command remote.Command) (process remote.Handle, err error) {
	program := filepath.Base(command.Arguments[len(command.Arguments)-1])
	merged := command.Stderr == command.Stdout
	if command.Stdout != nil {
		command.Stdout = &faultyWriter{c.faults, "reading the output of " + program, command.Stdout}
	}
	if merged {
		command.Stderr = command.Stdout
	} else if command.Stderr != nil {
		command.Stderr = &faultyWriter{c.faults, "reading the messages of " + program, command.Stderr}
	}
	c.faults.around("starting "+program, func() { process, err = c.Connection.Start(ctx, command) })
	if err != nil {
		return nil, err
	}
	return &faultyProcess{process, c.faults, program}, nil
}

func (c *faultyConnection) Stat(ctx context.Context, path string) (info fs.FileInfo, err error) {
	c.faults.around("describing "+filepath.Base(path), func() { info, err = c.Connection.Stat(ctx, path) })
	return info, err
}

func (c *faultyConnection) WriteFile(ctx context.Context, path string, content io.Reader, mode fs.FileMode) (err error) {
	name := filepath.Base(path)
	c.faults.around("writing "+name, func() {
		err = c.Connection.WriteFile(ctx, path, &faultyReader{content: content, faults: c.faults, step: "in the middle of writing " + name}, mode)
	})
	return err
}

// A faultyReader has a fault point after the first few bytes of its content.
type faultyReader struct {
	content io.Reader
	faults  *faults
	step    string
	reads   int
}

func (r *faultyReader) Read(p []byte) (int, error) {
	r.reads++
	if r.reads == 1 {
		return r.content.Read(p[:min(len(p), 8)])
	}
	if r.reads == 2 {
		r.faults.point(r.step)
	}
	return r.content.Read(p)
}

func (c *faultyConnection) MkdirAll(ctx context.Context, path string, mode fs.FileMode) (err error) {
	c.faults.around("making folder "+filepath.Base(path), func() { err = c.Connection.MkdirAll(ctx, path, mode) })
	return err
}

func (c *faultyConnection) Remove(ctx context.Context, path string) (err error) {
	c.faults.around("removing "+filepath.Base(path), func() { err = c.Connection.Remove(ctx, path) })
	return err
}

func (c *faultyConnection) Close() (err error) {
	c.faults.around("closing", func() { err = c.Connection.Close() })
	return err
}

type faultyProcess struct {
	remote.Handle
	faults  *faults
	program string
}

func (p *faultyProcess) Wait() (code int, err error) {
	p.faults.around("waiting for "+p.program, func() { code, err = p.Handle.Wait() })
	return code, err
}

type faultyWriter struct {
	faults *faults
	step   string
	writer io.Writer
}

func (w *faultyWriter) Write(text []byte) (written int, err error) {
	w.faults.around(w.step, func() { written, err = w.writer.Write(text) })
	return written, err
}

// settlingTime is long enough for every submit command to end, and shorter than
// keepsJobs, after which a Slurm without accounting forgets a job.
const (
	settlingTime = 4 * time.Minute
	keepsJobs    = "RMCTL_SLURM_MINJOBAGE=3600" // a busy machine takes minutes
)

// settledCode does for the store of $HOME what rmctl recover does, that much later,
// and prints the records as JSON:
//
//	rmctl_settled TARGET
func settledCode() int {
	if err := settle(context.Background(), os.Args[1], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func settle(ctx context.Context, target string, output io.Writer) error {
	a := &app{stdin: os.Stdin, stdout: output, stderr: os.Stderr, siteFolder: testSite()}
	store, err := a.client().Store(ctx)
	if err != nil {
		return err
	}
	targets, err := a.client().Targets()
	if err != nil {
		return err
	}
	found, err := targets.Find(target)
	if err != nil {
		return err
	}
	definition, err := a.definition(found.Definition)
	if err != nil {
		return err
	}
	connection, err := a.client().Connection(ctx, found)
	if err != nil {
		return err
	}
	controller := control.New(control.Options{Target: found.Name, Definition: definition, Connection: connection, Store: store,
		Now: func() time.Time { return time.Now().Add(settlingTime) }})
	open, err := store.Unresolved(ctx, controller.Target)
	for _, job := range open {
		_, recoverErr := controller.Recover(ctx, job)
		err = errors.Join(err, recoverErr)
	}
	_, listErr := controller.Rediscover(ctx)
	err = errors.Join(err, listErr, controller.Tidy(ctx))
	left, leftErr := store.Leftovers(ctx, found.Name)
	if len(left) > 0 {
		leftErr = errors.Join(leftErr, fmt.Errorf("%d submissions have left files", len(left)))
	}
	jobs, jobsErr := store.List(ctx, jobstore.Filter{All: true})
	for _, job := range jobs {
		whole, wholeErr := store.ByTag(ctx, job.Tag)
		jobsErr = errors.Join(jobsErr, wholeErr, json.NewEncoder(output).Encode(whole))
	}
	return errors.Join(err, leftErr, jobsErr, a.close())
}
