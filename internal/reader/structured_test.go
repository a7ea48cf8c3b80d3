package reader

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
)

// documents returns a source of documents and the ids that it hands over.
func documents(t testing.TB, kind config.SourceKind, each string) (source, *[]string) {
	t.Helper()
	ids := &[]string{}
	source, err := newStructuredSource(&config.Source{Kind: kind, Each: config.XPath{Text: each}}, nil, func(record *Record) error {
		id := ""
		if field := record.Root.Child("id"); field != nil {
			id = field.Value()
		}
		if len(*ids) < 100 {
			*ids = append(*ids, id)
		}
		return nil
	})
	require.NoError(t, err)
	return source, ids
}

// endless writes a text again and again, so many bytes in all, and checks the memory.
func endless(t *testing.T, to source, text string, size int) {
	t.Helper()
	part := bytes.Repeat([]byte(text), 64<<10/len(text)+1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for written := 0; written < size; written += len(part) {
		_, err := to.Write(part)
		require.NoError(t, err)
		if written%(16<<20) < len(part) {
			runtime.GC()
			runtime.ReadMemStats(&after)
			require.Less(t, int64(after.HeapInuse)-int64(before.HeapInuse), int64(150<<20), "after %d bytes", written)
		}
	}
}

func TestDocumentsThatNeverEndTakeLittleMemory(t *testing.T) {
	const size = 64 << 20
	for name, c := range map[string]struct {
		kind               config.SourceKind
		each, begin, again string
		want               string
	}{
		"a text of JSON":       {config.JSON, "jobs/*", `{"jobs":[{"id":"`, "x", "too long"},
		"a number":             {config.JSON, "jobs/*", `{"jobs":[{"id":`, "7", "too long"},
		"fields of one record": {config.JSON, "jobs/*", `{"jobs":[{"l":[`, "1,", "too"},
		"beside the records":   {config.JSON, "jobs/*", `{"other":"`, "x", "too long"},
		"nesting":              {config.JSON, "jobs/*", "", "[", "deep"},
		"records":              {config.JSON, "jobs/*", `{"jobs":[{"id":"1"}`, `,{"id":"2"}`, "ends early"},
		"lines before":         {config.JSON, "jobs/*", "", "Please wait ...\n", "no document"},
		"a text of XML":        {config.XML, "data/job", "<data><job><id>", "x", "too long"},
		"elements":             {config.XML, "data/job", "<data>", "<job>", "deep"},
		"jobs of XML":          {config.XML, "data/job", "<data>", "<job><id>1</id></job>", "ends early"},
		"an attribute":         {config.XML, "data/job", "<data a='", "x", "too long"},
		"a comment":            {config.XML, "data/job", "<data><!--", "x", "too long"},
		"control characters":   {config.XML, "data/job", "<data><job><id>", "\x01\x1b[2J\x00", "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			source, _ := documents(t, c.kind, c.each)
			_, err := source.Write([]byte(c.begin))
			require.NoError(t, err)
			endless(t, source, c.again, size)
			damage, isDamage := asDamage(source.Close())
			require.True(t, isDamage)
			require.Contains(t, damage.What, c.want)
		})
	}
}

func TestALongNumberIsKeptAsItIsWritten(t *testing.T) {
	number := strings.Repeat("7", 1<<20)
	source, ids := documents(t, config.JSON, "*")
	_, err := fmt.Fprintf(writer{source}, `[{"id":%s},{"id":2}]`, number)
	require.NoError(t, err)
	require.NoError(t, source.Close())
	require.Equal(t, []string{number, "2"}, *ids)
}

type writer struct{ source }

func TestBombsAndOddBytesAreNoDocuments(t *testing.T) {
	for text, want := range map[string]string{
		`<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>`: "document type",
		"<a>&lol;</a>": "entity",
		"<a></b>":      "no XML",
		"<a/>behind":   "behind",
		"<?xml version='1.0' encoding='latin1'?><a/>": "encoded as latin1",
	} {
		source, _ := documents(t, config.XML, "a/b")
		_, err := source.Write([]byte(text))
		require.NoError(t, err)
		damage, isDamage := asDamage(source.Close())
		require.True(t, isDamage, text)
		require.Contains(t, damage.What, want, text)
	}
	source, ids := documents(t, config.XML, "a/b")
	_, err := source.Write([]byte("<a><b><id>\xff\x00\x1b</id></b></a>\n<a><b><id>2</id></b></a>"))
	require.NoError(t, err)
	require.NoError(t, source.Close())
	require.Equal(t, []string{"\uFFFD\uFFFD\uFFFD", "2"}, *ids)

	source, ids = documents(t, config.JSON, "*")
	_, err = source.Write([]byte("[{\"id\":\"\xff\\u0000\"}]\n[{\"id\":\"2\"}]"))
	require.NoError(t, err)
	require.NoError(t, source.Close())
	require.Equal(t, []string{"\uFFFD\x00", "2"}, *ids)
}

func TestPathsOfRecordsAreRefusedIfTheyAreNotSimple(t *testing.T) {
	for _, each := range []string{"", "a//b", "a/b[", "a/@b", "..", "a/b()"} {
		_, err := newStructuredSource(&config.Source{Kind: config.XML, Each: config.XPath{Text: each}}, nil, nil)
		require.Error(t, err, each)
	}
}

// Whatever is printed, in whatever parts, nothing panics and the parts do not matter.
func FuzzDocuments(f *testing.F) {
	for _, seed := range []string{`{"a":[{"id":1},{"id":"2"}]}`, "<a><b><id>1</id></b></a>", "x\n[1]", "<a", `{"a":[{"id":1},`, "[]{}", "0[]"} {
		f.Add([]byte(seed), uint8(3), true)
		f.Add([]byte(seed), uint8(0), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8, isXML bool) {
		read := func(size int) (ids []string, what string) {
			kind := config.JSON
			if isXML {
				kind = config.XML
			}
			source, handed := documents(t, kind, "a/*")
			for part := text; len(part) > 0; part = part[min(len(part), size):] {
				_, err := source.Write(part[:min(len(part), size)])
				require.NoError(t, err)
			}
			if damage, isDamage := asDamage(source.Close()); isDamage {
				what = damage.What
			}
			return *handed, what
		}
		whole, damage := read(len(text) + 1)
		parts, damageOfParts := read(int(size) + 1)
		require.Equal(t, whole, parts)
		require.Equal(t, damage == "", damageOfParts == "")
	})
}
