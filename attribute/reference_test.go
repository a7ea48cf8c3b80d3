package attribute_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
)

func TestAWholeReferenceResolvesLikeOneInAText(t *testing.T) {
	env := attribute.NewEnvironment()
	define := func(name string, field attribute.Field, value attribute.Value) {
		defined := env.Lookup(name)
		if defined == nil {
			defined = attribute.New(name)
			env.Define(name, defined)
		}
		require.NoError(t, defined.Set(field, value))
	}
	define("queue", attribute.FieldValue, "batch")
	define("queue", attribute.FieldDefault, "short")
	define("nested", attribute.FieldValue, "in ${ptp_rm:queue#value}")
	define("round", attribute.FieldValue, "${ptp_rm:round#value}")
	define("job", attribute.FieldValue, "@jobId")
	define("shell", attribute.FieldValue, "${HOME}")
	define("list", attribute.FieldValue, []string{"a", "b"})
	define("map", attribute.FieldValue, map[string]string{"k": "v"})
	define("unset", attribute.FieldDescription, "nothing")
	define("long", attribute.FieldValue, strings.Repeat("x", 17<<20))
	found := attribute.New("found")
	require.NoError(t, found.Set(attribute.FieldValue, 7))
	env.Discover(found)

	for _, text := range []string{
		"${ptp_rm:queue#value}", "${ptp_rm:queue}", "${ptp_rm:queue#}", "${ptp_rm:queue#Default}", "${ptp_rm:queue#readOnly}", "${ptp_rm:queue#type}",
		"${ptp_rm:nested#value}", "${ptp_rm:round#value}", "${ptp_rm:job#value}", "${ptp_rm:shell#value}", "${ptp_rm:list#value}", "${ptp_rm:map#value}",
		"${ptp_rm:unset#value}", "${ptp_rm:missing#value}", "${ptp_rm:found#value}", "${ptp_rm:#value}", "${ptp_rm:}", "${ptp_rm:long#value}",
	} {
		for _, job := range []string{"", "17"} {
			var expectedRead, read []*attribute.Attribute
			expected, expectedErr := env.ResolveNoting("-"+text, job, func(a *attribute.Attribute) { expectedRead = append(expectedRead, a) })
			resolved, err := env.ResolveNoting(text, job, func(a *attribute.Attribute) { read = append(read, a) })
			require.Equal(t, expectedErr == nil, err == nil, text)
			require.True(t, expected == "-"+resolved, text)
			require.Equal(t, expectedRead, read, text)
		}
	}
}
