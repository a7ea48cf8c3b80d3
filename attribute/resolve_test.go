package attribute_test

import (
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/stretchr/testify/require"
)

func newEnvironment(t testing.TB) *attribute.Environment {
	env := attribute.NewEnvironment()
	queue := attribute.New("queue")
	require.NoError(t, queue.Set(attribute.FieldValue, "normal"))
	require.NoError(t, queue.Set(attribute.FieldDefault, "debug"))
	env.Define("queue", queue)
	env.SetVariable("which", "queue")
	env.SetVariable("outer", "<${ptp_rm:queue#value}>")
	env.SetVariable("list", []string{"a", "b"})
	env.SetVariable("map", map[string]string{"k": "v", "a": "b"})
	env.SetVariable("number", 7)
	env.SetVariable("circle", "${ptp_rm:elcric#value}")
	env.SetVariable("elcric", "${ptp_rm:circle#value}")
	env.SetVariable("growing", "x${ptp_rm:growing#value}")
	env.SetVariable("a$1", `\1$0`)
	return env
}

func TestReferencesAreReplaced(t *testing.T) {
	env := newEnvironment(t)
	for text, expected := range map[string]string{
		"plain":                              "plain",
		"-q ${ptp_rm:queue#value}":           "-q normal",
		"${ptp_rm:queue#default}":            "debug",
		"${ptp_rm:queue#Default}":            "debug",
		"${ptp_rm:queue}":                    "normal",
		"${ptp_rm:queue#}":                   "normal",
		"${ptp_rm:queue#name}":               "queue",
		"${ptp_rm:queue#visible}":            "true",
		"${ptp_rm:which#visible}":            "false",
		"${ptp_rm:queue#readOnly}":           "false",
		"${ptp_rm:queue#type}":               "java.lang.String",
		"${ptp_rm:queue#min}":                "",
		"[${ptp_rm:missing#value}]":          "[]",
		"${ptp_rm}|${ptp_rm:}":               "|",
		"${ptp_rm:list#value}":               "[a, b]",
		"${ptp_rm:map#value}":                "{a=b, k=v}",
		"${ptp_rm:number#value}":             "7",
		"${ptp_rm:outer#value}":              "<normal>",
		"${ptp_rm:${ptp_rm:which#value}}":    "normal",
		"${HOME}/${ptp_rm:queue#value}":      "${HOME}/normal",
		"${${ptp_rm:which#value}}":           "${queue}",
		"${ptp_rm:queue#value":               "${ptp_rm:queue#value",
		"${open ${ptp_rm:queue#value}":       "${open normal",
		"}$ {}${}":                           "}$ {}${}",
		"${ptp_rm:a$1#value}":                `\1$0`,
		"@jobId ${ptp_rm:@jobId#value}":      "@jobId ",
		"${other:ptp_rm:queue}":              "${other:ptp_rm:queue}",
		"${ptp_rm:queue#value}${ptp_rm:none": "normal${ptp_rm:none",
	} {
		resolved, err := env.Resolve(text, "")
		require.NoError(t, err, text)
		require.Equal(t, expected, resolved, text)
	}
}

func TestTheJobsIdIsInsertedLiterally(t *testing.T) {
	env := newEnvironment(t)
	job := &attribute.Attribute{}
	require.NoError(t, job.Set(attribute.FieldName, "4711.server"))
	env.Define(`u$1\1`, job)
	resolved, err := env.Resolve("@jobId is ${ptp_rm:@jobId#name}", `u$1\1`)
	require.NoError(t, err)
	require.Equal(t, `u$1\1 is 4711.server`, resolved)
}

func TestUnresolvableReferencesStayInTheText(t *testing.T) {
	env := newEnvironment(t)
	for text, reason := range map[string]string{
		"@jobId ${ptp_rm:queue#nosuch}":    `no field "nosuch"`,
		"@jobId ${ptp_rm:queue#value#min}": `no field "value#min"`,
		"@jobId ${ptp_rm:circle#value}":    "form a loop",
		"@jobId ${ptp_rm:growing#value}":   "form a loop",
	} {
		resolved, err := env.Resolve(text, "J")
		require.ErrorContains(t, err, "resolving ", text)
		require.ErrorContains(t, err, reason)
		require.Equal(t, "J"+strings.TrimPrefix(text, "@jobId"), resolved)
	}
}

func TestGrowthOfResolvedTextIsBounded(t *testing.T) {
	env := attribute.NewEnvironment()
	env.SetVariable("bomb", strings.Repeat("${ptp_rm:bomb#value}x", 8))
	_, err := env.Resolve("${ptp_rm:bomb#value}", "")
	require.ErrorContains(t, err, "longer than")
}

func FuzzResolve(f *testing.F) {
	for _, seed := range []string{"${ptp_rm:queue#value}", "${ptp_rm:${ptp_rm:which#value}#default}", "${a${b}}", "@jobId}", "${ptp_rm:circle#value}", "$${{}}"} {
		f.Add(seed, "job")
	}
	env := newEnvironment(f)
	f.Fuzz(func(t *testing.T, text, job string) {
		resolved, err := env.Resolve(text, job)
		if err != nil {
			require.ErrorContains(t, err, "resolving ")
			return
		}
		if !strings.Contains(text, attribute.JobPlaceholder) && !strings.Contains(text, "${") {
			require.Equal(t, text, resolved)
		}
		again, err := env.Resolve(resolved, "")
		require.NoError(t, err)
		require.Equal(t, resolved, again, "what is resolved stays as it is")
	})
}
