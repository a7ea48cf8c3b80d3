package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"github.com/rmctl/rmctl/internal/debug/server"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/tree"
)

// attachServers starts a server for each process, which attaches a debugger when rmctl requests it. The servers
// outlive this process, because they must release what they debug.
func attachServers(question tree.Question, processes []tree.RankProcess, give func(tree.Part)) error {
	var asked server.AttachQuestion
	if err := json.Unmarshal(question.Body, &asked); err != nil {
		return fmt.Errorf("invalid question: %w", err)
	}
	if _, err := server.ReadPass(asked.Pass); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for _, process := range processes {
		part := tree.Part{Namespace: process.Namespace, Ranks: ranges.Set{{First: process.Rank, Last: process.Rank}}, Body: json.RawMessage("true")}
		if err := startServer(program, asked.Pass, process); err != nil {
			part.Body, part.Problem = nil, err.Error()
		}
		give(part)
	}
	return nil
}

func startServer(program, pass string, process tree.RankProcess) error {
	command := exec.Command(program, "debug", "--pass", pass, "--attach", strconv.Itoa(process.PID), "--start", strconv.FormatUint(process.Start, 10), "--rank", strconv.Itoa(process.Rank))
	command.Dir = "/"
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return fmt.Errorf("starting a debugger: %w", err)
	}
	go func() { _ = command.Wait() }() // only so that it does not stay as a zombie
	return nil
}
