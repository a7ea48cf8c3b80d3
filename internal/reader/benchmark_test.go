package reader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/reader"
)

// BenchmarkReaders reads 100,000 jobs in each format, with ten or more fields each.
//
//	go test ./internal/reader -run '^$' -bench Readers -benchmem
func BenchmarkReaders(b *testing.B) {
	const jobs = 100_000
	const states = `<x:states of="state"><x:state is="USER_ON_HOLD" words="PENDING" test="reason='JobHeldUser'"/><x:state is="QUEUED_ACTIVE" words="PENDING"/><x:state is="RUNNING" words="RUNNING"/></x:states>`
	facts := ""
	for _, fact := range []string{"reason", "queue", "nodes", "submitted", "owner", "cpus", "identity", "name"} {
		facts += fmt.Sprintf(`<x:fact name="%s" from="%s"/>`, fact, fact)
	}
	facts += `<x:fact name="started" from="started" as="time" when="string-length(nodes) > 0"/><x:fact name="ended" from="ended" as="time"/>`
	names := strings.Fields("id state reason queue nodes submitted started ended owner cpus identity name")
	for _, form := range []struct {
		name, source  string
		row           func(number int, values []string) string
		before, after string
	}{
		{"Table", `<x:table separator="mark" columns="` + strings.Join(names, " ") + `"/>`, func(_ int, values []string) string {
			return strings.Join(values, "@a1b2c3d4e5f6g7h8") + "@a1b2c3d4e5f6g7h8\n"
		}, "", ""},
		{"JSON", `<x:json each="jobs/*"/>`, func(number int, values []string) string {
			text := ","
			if number == 0 {
				text = ""
			}
			for i, name := range names {
				text += fmt.Sprintf("%s%q: %q", map[bool]string{true: "{", false: ", "}[i == 0], name, values[i])
			}
			return text + "}\n"
		}, `{"jobs":[`, "]}\n"},
		{"XML", `<x:xml each="data/job"/>`, func(_ int, values []string) string {
			text := "<job>"
			for i, name := range names {
				text += "<" + name + ">" + values[i] + "</" + name + ">"
			}
			return text + "</job>\n"
		}, "<data>", "</data>"},
	} {
		b.Run(form.name, func(b *testing.B) {
			var output strings.Builder
			output.WriteString(form.before)
			for number := range jobs {
				state := []string{"PENDING", "RUNNING"}[number%2]
				output.WriteString(form.row(number, []string{fmt.Sprint(number), state, "Priority", "normal", "node[001-004]", "2026-07-03T12:00:00", "2026-07-03T12:00:00",
					"2026-07-04T12:00:00", "alice", "64", "/home/alice/.rmctl/9e053800-5f8d-4c5b-9102-0b2c4581d4f0script", "simulation of water"}))
			}
			output.WriteString(form.after)
			text := []byte(output.String())
			definition := definitionWith(b, `<x:ids form="(\d+)(?:_(\d+))?" columns="job task"/><x:reader name="x">`+form.source+`<x:id from="id"/>`+states+facts+`</x:reader>`)
			ids, err := reader.NewIDs(definition.IDs)
			require.NoError(b, err)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := reader.New(definition.Readers[0], reader.Query{Mark: "@a1b2c3d4e5f6g7h8", IDs: ids})
				require.NoError(b, err)
				for part := text; len(part) > 0; part = part[min(len(part), 32<<10):] {
					_, err = r.Write(part[:min(len(part), 32<<10)])
					require.NoError(b, err)
				}
				answer, err := r.Close()
				require.NoError(b, err)
				require.Len(b, slices.Collect(answer.All()), jobs)
			}
		})
	}
}
