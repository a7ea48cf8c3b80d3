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

// documents returns a source of documents and the ids that it reads.
func documents(t testing.TB, kind string, each string) (source, *[]string) {
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

// endless writes a text repeatedly, up to a total size, and checks the memory.
func endless(t *testing.T, to source, text string, size int, most int64) {
	t.Helper()
	part := bytes.Repeat([]byte(text), 64<<10/len(text)+1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for written := 0; written < size; written += len(part) {
		_, err := to.Write(part)
		require.NoError(t, err)
		if written%(size/8) < len(part) {
			runtime.GC()
			runtime.ReadMemStats(&after)
			require.Less(t, int64(after.HeapInuse)-int64(before.HeapInuse), most, "after %d bytes", written)
		}
	}
}

func TestDocumentsThatNeverEndTakeLittleMemory(t *testing.T) {
	const (
		longest = 512 << 10
		size    = 8 << 20
		texts   = 3 << 20  // of memory: the text of a record a few times
		nodes   = 40 << 20 // of memory: as many nodes as a record may have
	)
	for name, c := range map[string]struct {
		kind               string
		each, begin, again string
		most               int64
		want               string
	}{
		"a text of JSON":       {config.JSON, "jobs/*", `{"jobs":[{"id":"`, "x", texts, "too long"},
		"a number":             {config.JSON, "jobs/*", `{"jobs":[{"id":`, "7", texts, "too long"},
		"fields of one record": {config.JSON, "jobs/*", `{"jobs":[{"l":[`, "1,", nodes, "too"},
		"beside the records":   {config.JSON, "jobs/*", `{"other":"`, "x", texts, "too long"},
		"nesting":              {config.JSON, "jobs/*", "", "[", texts, "deep"},
		"records":              {config.JSON, "jobs/*", `{"jobs":[{"id":"1"}`, `,{"id":"2"}`, texts, "ends early"},
		"lines before":         {config.JSON, "jobs/*", "", "Please wait ...\n", texts, "no document"},
		"a text of XML":        {config.XML, "data/job", "<data><job><id>", "x", texts, "too long"},
		"elements":             {config.XML, "data/job", "<data>", "<job>", texts, "deep"},
		"jobs of XML":          {config.XML, "data/job", "<data>", "<job><id>1</id></job>", texts, "ends early"},
		"an attribute":         {config.XML, "data/job", "<data a='", "x", texts, "too long"},
		"a comment":            {config.XML, "data/job", "<data><!--", "x", texts, "too long"},
		"control characters":   {config.XML, "data/job", "<data><job><id>", "\x01\x1b[2J\x00", texts, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			source, _ := documents(t, c.kind, c.each)
			source.(*structured).feed.longest = longest
			_, err := source.Write([]byte(c.begin))
			require.NoError(t, err)
			endless(t, source, c.again, size, c.most)
			damage, isDamage := asDamage(source.Close())
			require.True(t, isDamage)
			require.Contains(t, damage.What, c.want)
		})
	}
}

// This test uses the real limit, which other tests lower.
func TestATextMayBeAsLongAsARecord(t *testing.T) {
	for kind, begin := range map[string]string{config.JSON: `[{"id":"`, config.XML: "<a><b><id>"} {
		source, _ := documents(t, kind, "*")
		_, err := source.Write([]byte(begin))
		require.NoError(t, err)
		endless(t, source, "x", 4*longestRecord, 80<<20)
		damage, isDamage := asDamage(source.Close())
		require.True(t, isDamage)
		require.Equal(t, "a record is too long", damage.What)
	}
}

func TestALongNumberKeepsItsDigits(t *testing.T) {
	number := strings.Repeat("7", 1<<20)
	source, ids := documents(t, config.JSON, "*")
	_, err := fmt.Fprintf(writer{source}, `[{"id":%s},{"id":2}]`, number)
	require.NoError(t, err)
	require.NoError(t, source.Close())
	require.Equal(t, []string{number, "2"}, *ids)
}

type writer struct{ source }

func TestEntityBombsAndInvalidBytesAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;">]><a>&c;</a>`: "document type",
		"<a>&lol;</a>": "entity",
		"<a></b>":      "invalid XML",
		"<a/>behind":   "text after the document",
		"<?xml version='1.0' encoding='latin1'?><a/>": "unsupported encoding latin1",
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

func TestComplexRecordPathsAreRefused(t *testing.T) {
	for _, each := range []string{"", "a//b", "a/b[", "a/@b", "..", "a/b()"} {
		_, err := newStructuredSource(&config.Source{Kind: config.XML, Each: config.XPath{Text: each}}, nil, nil)
		require.Error(t, err, each)
	}
}

// For any output, nothing panics, and the sizes of writes do not matter.
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
