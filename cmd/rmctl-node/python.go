package main

import (
	"context"
	_ "embed"
	"fmt"
)

// pythonModule is a Python module around the session command.
//
//go:embed coalloc.py
var pythonModule string

// printPythonModule prints the Python module, so that each version has its own.
func printPythonModule(_ context.Context, arguments []string) int {
	if len(arguments) > 0 {
		return wrongUsage("python", "> coalloc.py")
	}
	fmt.Print(pythonModule)
	return 0
}
