package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWarningsAreSentences(t *testing.T) {
	for name, test := range map[string]struct {
		of   app
		want string
	}{
		"as it is":      {app{}, "rmctl: tasks has no effect (target local)\nrmctl: files were left behind: no \\u001b[31mroom (place there)\n"},
		"with -v":       {app{verbose: 1}, "rmctl: connecting: nobody answers\nrmctl: tasks has no effect (target local)\nrmctl: files were left behind: no \\u001b[31mroom (place there)\n"},
		"on the screen": {app{isBrief: true}, "tasks has no effect (target local)\nfiles were left behind: no \\u001b[31mroom (place there)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var reported bytes.Buffer
			test.of.stderr = &reported
			log := test.of.log()
			log.Debug("ran a command")
			log.Info("connecting", "reason", errors.New("nobody answers"))
			log.Warn("tasks has no effect", "target", "local")
			log.With("place", "there").Warn("files were left behind", "error", errors.New("no \x1b[31mroom"))
			require.Equal(t, test.want, reported.String())
		})
	}
}

func TestDetailedLogLinesHaveTimes(t *testing.T) {
	for _, of := range []app{{keepsLog: true}, {verbose: 2}} {
		var reported bytes.Buffer
		of.stderr = &reported
		of.log().Warn("a connection has ended")
		require.Regexp(t, `^time=20\S+ level=WARN msg="a connection has ended"\n$`, reported.String())
	}
}
