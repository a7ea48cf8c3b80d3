package cases

import (
	"context"
	"errors"
	"time"
)

// RunFlow tries a flow that was read.
func (r *Runner) RunFlow(_ context.Context, f *Flow) Result {
	began := time.Now()
	result := Result{Folder: f.Folder, Definition: f.Definition, Flow: f}
	r.conclude(&result, errors.New("flows are not tried yet"), nil)
	result.Duration = time.Since(began)
	return result
}
