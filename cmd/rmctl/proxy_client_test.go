package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rmctl/rmctl/proxy"
)

// proxyClient is a program of scripts: a client of the proxy protocol that starts an agent, the
// command line behind the file with what to do, a line for each step:
//
//	tcp                         (first) listen, and start the agent with the port
//	send COMMAND|NAME=VALUE|…   send a command; raw TEXT sends bytes
//	until EXPRESSION            print updates up to one that matches
//	close                       end the input of the agent
//
// At the end it prints what else comes, and exits as the agent does.
func proxyClient() int {
	if err := playClient(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A played is an agent that was started.
type played struct {
	to       io.WriteCloser
	updates  *proxy.Reader
	previous uint32 // transaction
}

// patience is how long a client waits for the agent.
const patience = time.Minute

func playClient(script string, words []string) error {
	source, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	steps := strings.Split(strings.TrimSpace(string(source)), "\n")
	agent := exec.Command(words[0], words[1:]...)
	agent.Stderr = os.Stderr
	time.AfterFunc(patience, func() {
		fmt.Fprintln(os.Stderr, "the agent took too long")
		os.Exit(1)
	})
	var p *played
	if steps[0] == "tcp" {
		steps = steps[1:]
		p, err = accept(agent)
	} else {
		p, err = overPipes(agent)
	}
	if err != nil {
		return err
	}
	for _, step := range steps {
		if err := p.play(step); err != nil {
			return fmt.Errorf("%s: %w", step, err)
		}
	}
	if err := p.until(nil); !errors.Is(err, io.EOF) {
		return err
	}
	fmt.Println("closed")
	return agent.Wait()
}

func overPipes(agent *exec.Cmd) (*played, error) {
	to, toErr := agent.StdinPipe()
	from, fromErr := agent.StdoutPipe()
	if err := errors.Join(toErr, fromErr, agent.Start()); err != nil {
		return nil, err
	}
	return &played{to: to, updates: proxy.NewReader(bufio.NewReader(from))}, nil
}

func accept(agent *exec.Cmd) (*played, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	agent.Args = append(agent.Args, "-P", "tcp", "-h", "localhost", "-p", strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
	agent.Stdout = os.Stdout
	if err := agent.Start(); err != nil {
		return nil, err
	}
	conn, err := listener.Accept()
	if err != nil {
		return nil, err
	}
	return &played{to: conn, updates: proxy.NewReader(bufio.NewReader(conn))}, nil
}

func (p *played) play(step string) error {
	word, rest, _ := strings.Cut(step, " ")
	switch word {
	case "send":
		return p.send(strings.Split(rest, "|"))
	case "raw":
		_, err := io.WriteString(p.to, rest)
		return err
	case "until":
		expression, err := regexp.Compile(rest)
		if err != nil {
			return err
		}
		return p.until(expression)
	case "close":
		return p.to.Close()
	}
	return errors.New("unknown step")
}

func (p *played) send(words []string) error {
	command := proxy.Command{Transaction: p.previous + 1}
	p.previous++
	for command.ID = proxy.Quit; command.ID < proxy.UnknownCommand && command.Name() != words[0]; command.ID++ {
	}
	for _, word := range words[1:] {
		id, value, _ := strings.Cut(word, "=")
		command.Attributes = append(command.Attributes, proxy.Attribute{ID: id, Value: value})
	}
	_, err := p.to.Write(command.Frame().Append(nil))
	return err
}

// until prints updates up to one that matches, without an expression up to the end.
func (p *played) until(expression *regexp.Regexp) error {
	for {
		frame, err := p.updates.Read()
		if err != nil {
			return err
		}
		update, err := proxy.ParseUpdate(frame)
		if err != nil {
			return err
		}
		line := update.Name() + " " + strings.Join(frame.Arguments, " ")
		fmt.Println(line)
		if expression != nil && expression.MatchString(line) {
			return nil
		}
	}
}
