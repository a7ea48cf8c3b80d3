package further_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/further"
)

func TestAttributesAreEncodedAndDecoded(t *testing.T) {
	var all further.Attributes
	require.Empty(t, all.Text())
	all.Add("gpus", "4 <a100> \"x\"", false)
	all.Add("gpus", "8", false)
	all.Add("empty", "", false)
	all.Add("modules", "gcc", true)
	all.Add("modules", "mpi", true)
	all.Add("gpus", "9", true)
	text := all.Text()
	require.Equal(t, `{"gpus":"4 <a100> \"x\"","modules":["gcc","mpi"]}`, text)
	require.Equal(t, []further.Attribute{{ID: "gpus", Values: []string{`4 <a100> "x"`}}, {ID: "modules", Values: []string{"gcc", "mpi"}, IsList: true}}, further.Read(text))
	encoded, err := json.Marshal(struct{ A, B further.Text }{further.Object(text), further.Object(`{"a":"b"}`)})
	require.NoError(t, err)
	require.JSONEq(t, `{"A":`+text+`,"B":{"a":"b"}}`, string(encoded))
}

func TestOtherTextsHaveNoAttributes(t *testing.T) {
	for _, text := range []string{"", "x", "[]", `{"a":`, `{"a":"b"`, `{"a":"b"} x`, `{"a":1}`, `{"a":{"b":"c"}}`, `{"":"a"}`, `{"a\u0000":"b"}`} {
		require.Empty(t, further.Read(text), text)
		require.Empty(t, further.Object(text), text)
	}
}

func TestAttributesAreLimited(t *testing.T) {
	var all, lists further.Attributes
	for i := range 1000 {
		all.Add(fmt.Sprint("a", i), "x\x1b[31m", false)
		lists.Add("list", fmt.Sprint(i), true)
	}
	require.Len(t, further.Read(all.Text()), 100)
	require.Equal(t, []string{"x [31m"}, further.Read(all.Text())[0].Values)
	require.Len(t, further.Read(lists.Text())[0].Values, 100)
	var long further.Attributes
	long.Add(strings.Repeat("n", 101), "x", false)
	for i := range 100 {
		long.Add(fmt.Sprint("q", i), strings.Repeat(`"\`, 1000), false)
	}
	require.LessOrEqual(t, len(long.Text()), 4096)
	require.NotEmpty(t, further.Read(long.Text()))
}
