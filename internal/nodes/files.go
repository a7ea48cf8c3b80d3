package nodes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/execution"
	"github.com/rmctl/rmctl/remote"
)

// WriteFiles writes small files, which only the user can read, to the directory of a job. One
// command writes all of them, so that many cost no more round trips than one.
func (d *Directory) WriteFiles(ctx context.Context, jobDirectory string, files map[string][]byte) error {
	content, err := json.Marshal(files)
	if err != nil {
		return err
	}
	program, err := d.Program(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	complaint := execution.NewHead(mostHead)
	process, err := d.connection.Start(ctx, remote.Command{
		Arguments: []string{program, "files", "--job", jobDirectory}, Environment: map[string]string{"LC_ALL": "C"},
		Stdin: bytes.NewReader(content), Stderr: complaint,
	})
	code := 0
	if err == nil {
		code, err = process.Wait()
	}
	if err != nil {
		return fmt.Errorf("writing files for the job: %w", cmp.Or(ctx.Err(), err))
	}
	if code != 0 {
		return fmt.Errorf("writing files for the job: %.500q", strings.TrimSpace(complaint.String()))
	}
	return nil
}
