package main

import (
	"context"
	"io"
)

// execute runs one command line without signals.
func execute(ctx context.Context, arguments []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return (&app{stdin: stdin, stdout: stdout, stderr: stderr, siteFolder: testSite()}).execute(ctx, arguments)
}
