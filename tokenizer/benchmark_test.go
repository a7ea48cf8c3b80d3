package tokenizer_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
)

// BenchmarkSlurmRecords reads a status stream with two definitions: one that matches 8 lines of each
// record and decides by classes of states, and one from production use that matches only the line with
// the state. It compares them with grep on the same file. The records have 100 or 800 lines.
func BenchmarkSlurmRecords(b *testing.B) {
	for _, nodes := range []int{75, 775} {
		file := filepath.Join(b.TempDir(), "records")
		require.NoError(b, os.WriteFile(file, slurmRecords(48<<20, nodes), 0o600))
		name := fmt.Sprintf("%d-lines/", nodes+25)
		b.Run(name+"classes", func(b *testing.B) {
			benchmarkFile(b, benchmarkedParserOf(b, "testdata/scontrol.xml", config.GetJobStatus), file)
		})
		b.Run(name+"field", func(b *testing.B) {
			benchmarkFile(b, benchmarkedParserOf(b, sharedFile(b, "definitions/slurm-generic-batch.xml"), config.GetJobStatus), file)
		})
		b.Run(name+"grep", func(b *testing.B) { benchmarkGrep(b, file, "-c", "JobState=") })
	}
}

// BenchmarkPBSRows reads rows that match, and rows that nearly do.
func BenchmarkPBSRows(b *testing.B) {
	file := filepath.Join(b.TempDir(), "rows")
	for _, one := range []struct {
		name   string
		stream []byte
	}{{"rows", pbsTable(200_000)}, {"near-misses", pbsNearMisses(2_000)}} {
		require.NoError(b, os.WriteFile(file, one.stream, 0o600))
		b.Run(one.name, func(b *testing.B) {
			benchmarkFile(b, benchmarkedParserOf(b, sharedFile(b, "definitions/pbs-generic-batch.xml"), config.GetJobStatus), file)
		})
		b.Run(one.name+"-grep", func(b *testing.B) {
			benchmarkGrep(b, file, "-cE", `^[0-9]+[.].+[[:space:]]+.+[[:space:]]+.+[[:space:]]+.+[[:space:]]+([A-Z])[[:space:]]+.+$`)
		})
	}
}

func BenchmarkOpenMPIDiscovery(b *testing.B) {
	for _, megabytes := range []int{1, 5, 20} {
		b.Run(fmt.Sprintf("%dMB", megabytes), func(b *testing.B) {
			parser := benchmarkedParserOf(b, sharedFile(b, "tokenizer-cases/example-03/tokenizer.xml"), config.StartUpCommand)
			benchmarkStream(b, parser, ompiParameters(megabytes*1_000_000))
		})
	}
}

func BenchmarkWindows(b *testing.B) {
	parser := benchmarkedParserOf(b, sharedFile(b, "tokenizer-cases/example-08/tokenizer.xml"), config.StartUpCommand)
	benchmarkStream(b, parser, taggedJobs(20_000_000))
}

// BenchmarkMillionJobs keeps six fields of each job in a map per job, with or without the line it was
// read from, or one field of each job in a single map.
func BenchmarkMillionJobs(b *testing.B) {
	const row = `<expression>(\d+)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)\|([^|]*)</expression>`
	stream := jobListing(1_000_000)
	mapPerJob := parserFrom(b, `<stdout-parser delim="\n"><target><match>`+row+`
		<set field="name"><entry valueGroup="1"/></set>
		<put field="value">
			<entry key="name" valueGroup="2"/><entry key="user" valueGroup="3"/><entry key="state" valueGroup="4"/>
			<entry key="queue" valueGroup="5"/><entry key="submitted" valueGroup="6"/><entry key="nodes" valueGroup="7"/>
		</put>
	</match></target></stdout-parser>`)
	b.Run("map-per-job", func(b *testing.B) { benchmarkStream(b, mapPerJob, stream) })
	b.Run("map-per-job-with-origins", func(b *testing.B) {
		mapPerJob.options.Origins = "state"
		benchmarkStream(b, mapPerJob, stream)
	})
	b.Run("one-map", func(b *testing.B) {
		benchmarkStream(b, parserFrom(b, `<stdout-parser delim="\n"><target ref="job"><match>`+row+`
			<put field="value"><entry keyGroup="1" valueGroup="4"/></put>
		</match></target></stdout-parser>`), stream)
	})
}

func BenchmarkSegmentThatDoesNotMatch(b *testing.B) {
	benchmarkSegment(b, "   NumNodes=75 NumCPUs=600 NumTasks=600 CPUs/Task=1\n", `(\d+)[.](\w+)\s+(\S+)\s.*`)
}

func BenchmarkSegmentThatSetsThreeFields(b *testing.B) {
	benchmarkSegment(b, "1047.server          job47    user7    00:00:47 R batch\n", `(\d+)[.](\w+)\s+(\S+)\s.*`)
}

// benchmarkSegment writes one line after the other to a parser that sets three fields.
func benchmarkSegment(b *testing.B, line, expression string) {
	parser := parserFrom(b, `<stdout-parser delim="\n"><target ref="job"><match><expression>`+expression+`</expression>
		<set field="name"><entry valueGroup="1"/></set>
		<set field="default"><entry valueGroup="2"/></set>
		<set field="value"><entry valueGroup="3"/></set>
	</match></target></stdout-parser>`)
	run, err := tokenizer.Options{}.Compile(parser.parser, parser.environment(), "")
	require.NoError(b, err)
	segment := []byte(line)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run.Write(segment); err != nil { // require would take longer than the tokenizer
			b.Fatal(err)
		}
	}
	require.NoError(b, run.Close())
}

// A benchmarkedParser is a parser with the definition that it belongs to.
type benchmarkedParser struct {
	definition *config.Definition
	parser     *config.Parser
	options    tokenizer.Options
}

// environment returns the attributes of the parser's definition, those of the documented examples, and a
// job.
func (p benchmarkedParser) environment() *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, one := range p.definition.Attributes {
		defined := one.Clone()
		if defined.Value() == nil {
			defined.SetValue(defined.Field(attribute.FieldDefault))
		}
		env.Define(defined.Name(), defined)
	}
	env.Define("@job", attribute.New("1"))
	env.SetVariable("job", nil)
	env.SetVariable("jobStates", nil)
	return env
}

func benchmarkedParserOf(b testing.TB, file string, element config.CommandElement) benchmarkedParser {
	source, err := os.ReadFile(file)
	require.NoError(b, err)
	definition, err := config.Read(file, source, nil)
	require.NoError(b, err)
	for _, command := range definition.Commands {
		if command.Element == element {
			return benchmarkedParser{definition: definition, parser: command.StdoutParser}
		}
	}
	require.Fail(b, "no such command", "%s in %s", element, file)
	return benchmarkedParser{}
}

func parserFrom(b *testing.B, parser string) benchmarkedParser {
	definition, err := config.Read("benchmark.xml", []byte(definitionWith(parser)), nil)
	require.NoError(b, err)
	return benchmarkedParser{definition: definition, parser: definition.Commands[0].StdoutParser}
}

// definitionWith returns a definition whose only command has that parser.
func definitionWith(parser string) string {
	return `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="test"><control-data>
<start-up-command name="c"><arg/>` + parser + `</start-up-command>
</control-data><monitor-data schedulerType="test"/></resource-manager-builder>`
}

func benchmarkStream(b *testing.B, p benchmarkedParser, stream []byte) {
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		run, err := p.options.Compile(p.parser, p.environment(), "@job")
		require.NoError(b, err)
		require.NoError(b, run.Run(bytes.NewReader(stream)))
	}
	reportProcessor(b, int64(len(stream)), processorTime(b)-before)
}

func benchmarkFile(b *testing.B, p benchmarkedParser, name string) {
	size := reportSize(b, name)
	before := processorTime(b)
	for b.Loop() {
		run, err := p.options.Compile(p.parser, p.environment(), "@job")
		require.NoError(b, err)
		file, err := os.Open(name)
		require.NoError(b, err)
		require.NoError(b, run.Run(file))
		require.NoError(b, file.Close())
		require.Positive(b, run.Stats().Segments)
	}
	reportProcessor(b, size, processorTime(b)-before)
}

func benchmarkGrep(b *testing.B, name string, arguments ...string) {
	size := reportSize(b, name)
	var used time.Duration
	for b.Loop() {
		command := exec.Command("grep", append(arguments, name)...)
		command.Env = append(os.Environ(), "LC_ALL=C")
		// grep stops at the first match if its output is discarded. Without a match, as for near misses,
		// it exits with 1.
		if _, err := command.Output(); err != nil {
			var exit *exec.ExitError
			require.ErrorAs(b, err, &exit)
			require.Equal(b, 1, exit.ExitCode())
		}
		used += command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	}
	reportProcessor(b, size, used)
}

func reportSize(b *testing.B, name string) int64 {
	info, err := os.Stat(name)
	require.NoError(b, err)
	b.SetBytes(info.Size())
	b.ReportAllocs()
	return info.Size()
}

// processorTime returns the CPU time of this process so far. On a shared machine it says more than the
// clock.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// reportProcessor reports MB per second of CPU time.
func reportProcessor(b *testing.B, size int64, used time.Duration) {
	b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "cpu-MB/s")
}

// sharedFile returns a file from outside the repository.
func sharedFile(b *testing.B, name string) string {
	shared := os.Getenv("RMCTL_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	file := filepath.Join(shared, name)
	if _, err := os.Stat(file); err != nil {
		b.Skipf("definitions of other projects are not here; RMCTL_SHARED names their folder: %v", err)
	}
	return file
}

// BenchmarkCompileStatusParsers compiles all parsers that a status query may need: those of the command
// and of its fallbacks.
func BenchmarkCompileStatusParsers(b *testing.B) {
	const name = "testdata/scontrol.xml"
	source, err := os.ReadFile(name)
	require.NoError(b, err)
	definition, err := config.Read(name, source, nil)
	require.NoError(b, err)
	parsers := statusParsers(definition)
	require.NotEmpty(b, parsers)
	env := attribute.NewEnvironment()
	b.ReportAllocs()
	for b.Loop() {
		for _, parser := range parsers {
			_, err := tokenizer.Options{}.Compile(parser, env, "1")
			require.NoError(b, err)
		}
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
