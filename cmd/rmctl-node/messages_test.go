package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/rendezvous"
)

// couple runs scripts as the only processes of parts 1, 2 and so on, and returns their output.
func couple(t *testing.T, scripts ...string) []string {
	t.Helper()
	e := newEnsemble(t)
	var all []*running
	var serials []int
	for i, script := range scripts {
		all = append(all, e.runs(e.admits(i+1, 1, rendezvous.GateHeld, "sh", "-c", inProgram+script)))
		serials = append(serials, i+1)
	}
	e.releases(serials...)
	var printed []string
	for _, r := range all {
		require.Equal(t, 0, r.ends(), r.errors.String())
		printed = append(printed, r.output.String())
	}
	return printed
}

// other is the address of the other of two parts.
const other = `other=$(node structure | sed 's/.*"others":\[{"address":\([0-9]*\).*/\1/'); `

func TestPartsExchangeMessages(t *testing.T) {
	t.Parallel()
	printed := couple(t,
		other+`printf 'a\0b' | node send --to $other --tag one; printf later | node send --to $other --tag two; node recv --tag answer --from $other --timeout 50s`,
		other+`node recv --tag two; echo; node recv --tag one --json; printf 'thank you' | node send --to $other --tag answer`,
	)
	require.Equal(t, "thank you", printed[0])
	later, text, _ := strings.Cut(printed[1], "\n")
	require.Equal(t, "later", later)
	var message receivedMessage
	require.NoError(t, json.Unmarshal([]byte(text), &message))
	require.Equal(t, "a\x00b", string(message.Data))
	require.NotNil(t, message.From)
}

func TestRanksOfAPartExchangeMessages(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	pass := e.admits(1, 2, rendezvous.GateHeld, "sh", "-c", inProgram+`if [ "$(node rank)" = 0 ]; then echo hello | node send --to-rank 1; else node recv --from-rank 0; fi`)
	first, second := e.runs(pass, "PMI_RANK=0"), e.runs(pass, "PMI_RANK=1")
	e.releases(1)
	require.Equal(t, [2]int{0, 0}, [2]int{first.ends(), second.ends()})
	require.Equal(t, "hello\n", second.output.String())
}

func TestAllPartsGetWhatEachGave(t *testing.T) {
	t.Parallel()
	printed := couple(t, `printf one | node exchange; printf tcp://n1 | node exchange --name contact`, `printf two | node exchange; sleep 0.1; node exchange --name contact --timeout 50s < /dev/null`)
	require.Equal(t, printed[0], printed[1])
	decoder := json.NewDecoder(strings.NewReader(printed[0]))
	var given []string
	for range 2 {
		var all []rendezvous.Information
		require.NoError(t, decoder.Decode(&all))
		for _, each := range all {
			given = append(given, each.Label+"="+string(each.Data))
		}
	}
	require.Equal(t, []string{"part1=one", "part2=two", "part1=tcp://n1", "part2="}, given)
}

func TestTheStructureHasAllParts(t *testing.T) {
	t.Parallel()
	printed := couple(t, `node structure; node rank; node size`, `node structure`)
	var structure rendezvous.Structure
	text, numbers, _ := strings.Cut(printed[0], "\n")
	require.NoError(t, json.Unmarshal([]byte(text), &structure))
	require.True(t, structure.Joined)
	require.Equal(t, "part1", structure.Own.Label)
	require.Len(t, structure.Others, 1)
	require.Equal(t, "part2", structure.Others[0].Label)
	require.Equal(t, 2, structure.World)
	require.Equal(t, "0\n1\n", numbers)
}

func TestTheExitCodesOfMessages(t *testing.T) {
	t.Parallel()
	for command, code := range map[string]string{
		`node recv --tag never --timeout 100ms`:                      "11",
		`node exchange --timeout 100ms < /dev/null`:                  "11",
		`echo x | node send --to 7 --tag t`:                          "12",
		`echo x | node send --to-rank 0 --tag t`:                     "12",
		`echo x | node send --to-rank 3 --tag t`:                     "12",
		`COALLOC_INSTANCE=other; node structure`:                     "12",
		`head -c 1048577 /dev/zero | node send --to-rank 1`:          "1",
		`COALLOC_PASS=/nowhere; node recv`:                           "1",
		`node send --tag t`:                                          "2",
		`node send --to 1 --to-rank 2`:                               "2",
		`node send --to -1`:                                          "2",
		`node recv --from 1 --from-rank 2`:                           "2",
		`node recv --timeout -1s`:                                    "2",
		`node structure x`:                                           "2",
		`node session x`:                                             "2",
		`node barrier x`:                                             "2",
		`node exchange x`:                                            "2",
		`node rank x`:                                                "2",
		`node size x`:                                                "2",
		`node run --pass "$COALLOC_PASS" --rank-from A --wrong -- x`: "2",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, code+"\n", couple(t, command+`; echo $?`, `true`)[0])
		})
	}
}

func TestMessagesToAPartThatHasEndedAreErrors(t *testing.T) {
	t.Parallel()
	e := newEnsemble(t)
	r := e.runs(e.admits(1, 1, rendezvous.GateHeld, "sh", "-c", inProgram+other+`node recv --tag ended; echo x | node send --to $other --tag t`))
	ending := e.runs(e.admits(2, 1, rendezvous.GateHeld, "sh", "-c", inProgram+other+`echo x | node send --to $other --tag ended`))
	e.releases(1, 2)
	require.Equal(t, 0, ending.ends(), ending.errors.String())
	e.server.End(2)
	require.Equal(t, exitLost, r.ends())
	require.Contains(t, r.errors.String(), "the receiver has ended")
}
