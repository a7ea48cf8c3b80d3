package form_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/internal/form"
	"github.com/rmctl/rmctl/job"
)

const derivedForm = `
<attribute name="name"><default>${ptp_rm:executableName#value}</default><validator><regex expression="[a-z.]*"/></validator></attribute>
<attribute name="log"><default>${ptp_rm:directory#value}/${ptp_rm:name#value}.${ptp_rm:kind#value}</default></attribute>
<attribute name="kind"><default>log</default></attribute>
<attribute name="id"><default>of ${ptp_rm:@jobId#name}</default></attribute>
<attribute name="shell"><default>${HOME}/x</default></attribute>
<attribute name="shown" readOnly="true"><default>${ptp_rm:executableName#value}</default></attribute>
<attribute name="row"><default>${ptp_rm:name#value}.row</default></attribute>
<launch-tab><dynamic><title>Job</title>
<widget type="text" attribute="name"/><browse attribute="log"/><widget type="text" attribute="kind"/>
<widget type="text" attribute="id"/><widget type="text" attribute="shell"/><widget type="text" attribute="shown"/>
<viewer name="rows"><items><include>row</include></items></viewer>
</dynamic></launch-tab>`

// runs gives a form a program to run.
func runs(f *form.Form, name, directory string) {
	f.Launch(func(env *attribute.Environment) {
		env.SetVariable("executableName", name)
		env.SetVariable("directory", directory)
	})
}

func named(t *testing.T, f *form.Form, name string) form.Field {
	t.Helper()
	for _, field := range f.Fields(f.Pages()[0]) {
		if field.Name == name {
			return field
		}
	}
	require.Fail(t, "no field of that attribute", name)
	return form.Field{}
}

func TestADefaultThatIsMadeOfOtherValuesIsShownAsWhatItComesTo(t *testing.T) {
	f := newForm(define(t, derivedForm))
	shows := func(name, text, inherits string) {
		t.Helper()
		field := named(t, f, name)
		require.Equal(t, [2]string{text, inherits}, [2]string{field.Text, field.Default}, name)
	}
	shows("name", "", "")
	shows("log", "", "")
	shows("row", "", "")
	runs(f, "sums", "/home/ada")
	shows("name", "", "sums")
	shows("log", "", "/home/ada/sums.log")
	shows("kind", "log", "")
	shows("id", "", "") // known when the job is submitted
	shows("shell", "${HOME}/x", "")
	shows("shown", "sums", "sums")
	shows("row", "", "sums.row")

	require.NoError(t, f.Set(named(t, f, "name"), "mine", nil))
	shows("name", "mine", "")
	shows("log", "", "/home/ada/mine.log")
	require.Error(t, f.Set(named(t, f, "name"), "MINE", nil))
	shows("name", "MINE", "")
	runs(f, "other", "/home/ada")
	require.NoError(t, f.Set(named(t, f, "name"), "", nil))
	shows("name", "", "other")
	require.Empty(t, f.Problems(f.Pages()[0]))
}

func TestASubmissionGetsNoDefaultThatIsMadeOfOtherValues(t *testing.T) {
	f := newForm(define(t, derivedForm))
	runs(f, "sums", "/home/ada")
	page := f.Pages()[0]
	for _, field := range f.Fields(page) {
		if field.IsInput() {
			require.NoError(t, f.Set(field, field.Text, nil), field.Name) // as who looks at a form and changes nothing
		}
	}
	require.Empty(t, f.Values(page))
	require.Equal(t, "${ptp_rm:executableName#value}", f.Environment().Lookup("name").Value())
	f.Clear(named(t, f, "name"))
	require.Equal(t, []job.Assignment{{Name: "name"}}, f.Values(page))
	require.Empty(t, named(t, f, "name").Default, "it has no value any more")
}
