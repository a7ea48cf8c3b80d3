package tokenizer_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
	"github.com/stretchr/testify/require"
)

// jobRecords is output like that of scontrol show job; one line in a hundred
// tells a state.
func jobRecords(size int) []byte {
	var stream bytes.Buffer
	for line := 0; stream.Len() < size; line++ {
		if line%100 == 3 {
			fmt.Fprintf(&stream, "   JobState=RUNNING Reason=None Dependency=(null)\n")
		} else {
			fmt.Fprintf(&stream, "   NumNodes=%d NumCPUs=%d NumTasks=%d CPUs/Task=1\n", line%9, line%64, line%128)
		}
	}
	return stream.Bytes()
}

func jobTable(rows int) []byte {
	var stream bytes.Buffer
	for row := range rows {
		fmt.Fprintf(&stream, "%d.server          job%d    user%d    00:00:%02d R batch\n", 1000+row, row, row%40, row%60)
	}
	return stream.Bytes()
}

func benchmark(b *testing.B, source string, stream []byte) {
	definition, _ := config.Load("benchmark.xml", []byte(source))
	require.NotNil(b, definition)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		env := attribute.NewEnvironment()
		env.SetVariable("job", nil)
		run, err := tokenizer.Compile(definition.Commands[0].StdoutParser, env, "")
		require.NoError(b, err)
		require.NoError(b, run.Run(bytes.NewReader(stream)))
	}
}

func BenchmarkStatusStreamWithFewMatches(b *testing.B) {
	benchmark(b, definitionWith(`<stdout-parser delim="\n"><target ref="job">
		<match><expression>[\s]*JobState=(\w+)[\s].*</expression><set field="value"><entry valueGroup="1"/></set></match>
	</target></stdout-parser>`), jobRecords(8<<20))
}

func BenchmarkLineThatSetsThreeFields(b *testing.B) {
	benchmark(b, definitionWith(`<stdout-parser delim="\n"><target ref="job">
		<match><expression>(\d+)[.](\w+)\s+(\S+)\s.*</expression>
			<set field="name"><entry valueGroup="1"/></set>
			<set field="default"><entry valueGroup="2"/></set>
			<set field="value"><entry valueGroup="3"/></set>
		</match>
	</target></stdout-parser>`), jobTable(10_000))
}

func BenchmarkMapOfRows(b *testing.B) {
	benchmark(b, definitionWith(`<stdout-parser delim="\n"><target ref="job">
		<match><expression>(\d+)[.]\S+\s+\S+\s+\S+\s+\S+\s+([A-Z])\s+\S+\s*</expression>
			<put field="value"><entry keyGroup="1" valueGroup="2"/></put>
		</match>
	</target></stdout-parser>`), jobTable(10_000))
}

func BenchmarkConstructedAttributes(b *testing.B) {
	benchmark(b, definitionWith(`<stdout-parser delim="\n"><target>
		<match><expression>(\d+)[.]\S+\s+(\S+)\s+(\S+)\s.*</expression>
			<set field="name"><entry valueGroup="1"/></set>
			<put field="value"><entry key="name" valueGroup="2"/><entry key="user" valueGroup="3"/></put>
		</match>
	</target></stdout-parser>`), jobTable(10_000))
}

func BenchmarkWindow(b *testing.B) {
	benchmark(b, definitionWith(`<stdout-parser maxMatchLen="32"><target ref="job">
		<match><expression flags="DOTALL">.*&lt;job&gt;(\d+)&lt;/job&gt;.*</expression>
			<set field="value"><entry valueGroup="1"/></set>
		</match>
	</target></stdout-parser>`), jobRecords(1<<20))
}

// definitionWith returns a definition whose only command has that parser.
func definitionWith(parser string) string {
	return `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="test"><control-data>
<start-up-command name="c"><arg/>` + parser + `</start-up-command>
</control-data><monitor-data schedulerType="test"/></resource-manager-builder>`
}

// BenchmarkCompileStatusParsers compiles what a status query of a shipped
// definition may need: the parsers of the command and of its fallbacks.
func BenchmarkCompileStatusParsers(b *testing.B) {
	for _, name := range []string{"slurm", "pbs"} {
		source, err := os.ReadFile("../rms/" + name + ".xml")
		require.NoError(b, err)
		definition, err := config.Read(name, source)
		require.NoError(b, err)
		parsers := statusParsers(definition)
		require.NotEmpty(b, parsers)
		env := attribute.NewEnvironment()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, parser := range parsers {
					_, err := tokenizer.Compile(parser, env, "1")
					require.NoError(b, err)
				}
			}
		})
	}
}

func statusParsers(definition *config.Definition) []*config.Parser {
	var parsers []*config.Parser
	for _, command := range definition.Commands {
		if command.Element != config.GetJobStatus {
			continue
		}
		for _, one := range append([]*config.Command{command}, command.Fallbacks...) {
			for _, parser := range []*config.Parser{one.StdoutParser, one.StderrParser, one.RedirectParser} {
				if parser != nil {
					parsers = append(parsers, parser)
				}
			}
		}
	}
	return parsers
}
