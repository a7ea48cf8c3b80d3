package mi_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/debug/mi"
)

func TestRecordsAreParsed(t *testing.T) {
	record, err := mi.ParseRecord(`12^done,threads=[{id="1",name="a\303\251\033[2J",frame={level="0",args=[]}},{id="2"}],n="x\"y\\z\t"`)
	require.NoError(t, err)
	require.Equal(t, 12, record.Token)
	require.Equal(t, byte('^'), record.Kind)
	require.Equal(t, "done", record.Class)
	threads := record.Results.Get("threads").Items
	require.Len(t, threads, 2)
	require.Equal(t, "aé\x1b[2J", threads[0].Get("name").Text)
	require.Equal(t, "0", threads[0].Get("frame").Get("level").Text)
	require.Equal(t, "x\"y\\z\t", record.Results.Get("n").Text)
	require.Empty(t, record.Results.Get("absent").Text)

	record, err = mi.ParseRecord(`~"a\n"`)
	require.NoError(t, err)
	require.Equal(t, "a\n", record.Text)
	record, err = mi.ParseRecord(`7^done,stack=[frame={level="0"},frame={level="1"}]`)
	require.NoError(t, err)
	require.Equal(t, "frame", record.Results.Get("stack").Items[1].Name)
}

func TestInvalidRecordsAreRefused(t *testing.T) {
	for _, line := range []string{
		"", "x", "12", `~"a`, `~"a\`, `~a`, `^done,`, `^done,a`, `^done,a=`, `^done,a="b",`, `^done,a={b="c"`, `^done,a=["b"}`, `^done,="b"`, `~"a"b`,
		"99999999999^done", "^done,a=" + strings.Repeat("[", 1000) + strings.Repeat("]", 1000), `^done,a=[` + strings.Repeat(`"",`, 1<<19) + `""]`,
	} {
		_, err := mi.ParseRecord(line)
		require.Error(t, err, "%.80q", line)
	}
}

func FuzzRecord(f *testing.F) {
	for _, line := range []string{
		`12^done,threads=[{id="1",frame={level="0",args=[]}}]`, `*stopped,frame={addr="0x0",func="f"},thread-id="1"`, `~"a\303\n"`, `^error,msg="ptrace: No such process."`, `=a,b=[],c={},d=[x="1",{y="2"}]`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		record, err := mi.ParseRecord(line)
		if err != nil {
			require.Equal(t, mi.Record{}, record)
			return
		}
		require.Contains(t, "^*+=~@&", string(record.Kind))
		size := 0
		var add func(value mi.Value)
		add = func(value mi.Value) {
			size += len(value.Name) + len(value.Text)
			for _, item := range value.Items {
				add(item)
			}
		}
		add(record.Results)
		require.LessOrEqual(t, size+len(record.Class)+len(record.Text), len(line))
	})
}
