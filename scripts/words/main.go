// Command words checks the English of the project: comments, names of tests, messages, help, definitions,
// pages and docs. It runs in the root of the project.
//
//	go run ./scripts/words               # report forbidden words
//	go run ./scripts/words draw 50 [7]   # print 50 random texts; 7 repeats a draw
//
// patterns.txt lists the words, exceptions.txt where they may stand.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	if err := run(".", os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(1)
	}
}

func run(root string, arguments []string, out io.Writer) error {
	texts, err := collect(root)
	if err != nil {
		return err
	}
	switch {
	case len(arguments) == 0:
		return check(root, texts, out)
	case arguments[0] == "draw" && (len(arguments) == 2 || len(arguments) == 3):
		return drawTexts(texts, arguments[1:], out)
	}
	return errors.New("usage: words [draw COUNT [SEED]]")
}

func check(root string, texts []text, out io.Writer) error {
	folder := filepath.Join(root, "scripts", "words")
	patterns, err := readPatterns(filepath.Join(folder, "patterns.txt"))
	if err != nil {
		return err
	}
	exceptions, err := readExceptions(filepath.Join(folder, "exceptions.txt"))
	if err != nil {
		return err
	}
	problems := problemsOf(texts, patterns, exceptions)
	for _, problem := range problems {
		fmt.Fprintln(out, problem)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%d problems", len(problems))
	}
	return nil
}

func drawTexts(texts []text, arguments []string, out io.Writer) error {
	count, err := strconv.Atoi(arguments[0])
	if err != nil || count < 1 {
		return fmt.Errorf("invalid count %q", arguments[0])
	}
	seed := rand.Uint64N(1_000_000)
	if len(arguments) == 2 {
		if seed, err = strconv.ParseUint(arguments[1], 10, 64); err != nil {
			return fmt.Errorf("invalid seed %q", arguments[1])
		}
	}
	fmt.Fprintf(out, "seed %d\n", seed)
	for _, drawn := range draw(texts, count, rand.New(rand.NewPCG(seed, seed))) {
		fmt.Fprintf(out, "%s:%d (%s)\n    %s\n", drawn.path, drawn.line, drawn.kind, drawn.words)
	}
	return nil
}
