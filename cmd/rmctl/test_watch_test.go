package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The results of the cases appear as soon as a definition changes.
func TestADefinitionIsTestedAgainWhenItsFileChanges(t *testing.T) {
	const definition = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="site"><control-data>
		<get-job-status name="status"><arg>list</arg><arg>${ptp_rm:@jobId#name}</arg><x:read><x:table columns="id state"/>
		<x:states of="state"><x:state is="RUNNING" words="RUN"/></x:states></x:read></get-job-status></control-data></resource-manager-builder>`
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	write("site.xml", definition)
	write("cases/runs/case.toml", "definition = \"../../site.xml\"\ncommand = \"get-job-status\"\njob = \"7\"\nexit = 0\n")
	write("cases/runs/stdout", "7 GO\n")
	write("cases/runs/expected.json", `{"status": {"state": "OK"}, "job": {"state": "RUNNING", "detail": "RUNNING"}, "attributes": {"job.native": "GO"}}`)

	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		a := &app{stdin: strings.NewReader(""), stdout: writer, stderr: io.Discard}
		ended <- a.execute(ctx,
			[]string{"test", "--watch", filepath.Join(folder, "site.xml"), filepath.Join(folder, "cases")})
		_ = writer.Close() // of a pipe
	}()
	lines := bufio.NewScanner(reader)
	awaits := func(text string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		require.Fail(t, "not printed", text)
	}
	awaits("1 case: 0 passed, 1 failed")
	write("site.xml", strings.Replace(definition, `"RUN"`, `"GO RUN"`, 1))
	awaits("1 case: 1 passed, 0 failed")
	cancel()
	require.False(t, lines.Scan())
	require.Zero(t, <-ended)
}
