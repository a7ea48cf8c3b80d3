package fill

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/remote"
)

const askedForm = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="d"><control-data>
	<attribute name="a"><validator><regex expression="[a-z]+"/></validator></attribute><attribute name="b" type="boolean"/>
	<attribute name="c"><choice>1,2,three</choice></attribute><attribute name="d" type="integer" max="9"/><attribute name="e" type="list"/>
	<script><line><arg>x</arg></line></script><submit-batch name="s"><arg>true</arg></submit-batch>
	<launch-tab>
		<dynamic><title>Basic</title><widget attribute="a"/><widget type="checkbox" buttonId="b" attribute="b"/>
			<widget type="combo" readOnly="true" attribute="c"><control-state><show-if button="b"/></control-state></widget>
			<widget type="spinner" attribute="d"/><widget attribute="e"/></dynamic>
		<dynamic><title>Table</title><viewer name="t"><items allPredefined="true"/><value pattern="@name=@value"/></viewer></dynamic>
		<import title="Script"/>
	</launch-tab></control-data></resource-manager-builder>`

func FuzzAnswersFillInAForm(f *testing.F) {
	definition, err := config.Read("d.xml", []byte(askedForm), nil)
	require.NoError(f, err)
	local, err := remote.NewLocal()
	require.NoError(f, err)
	controller := control.New(control.Options{Definition: definition, Connection: local})
	for _, answers := range []string{"", "1\nx\ny\n3\n5\np, q\nprog\n'a b'\n/\ns\n", "2\ny\n\nn\nyes\nno\n\n\n\n\n\np\n", "Script\njob.sh\n\n\n\na\nname\n", "9\n-\n\x00\n\xff\n\x1b[2J\n"} {
		f.Add(answers)
	}
	f.Fuzz(func(t *testing.T, answers string) {
		inner, page, err := controller.FormWithoutSession(t.Context(), job.Submission{})
		require.NoError(t, err)
		filled := New(Options{
			Controller: controller, Target: "d", Place: inRoot, Save: func(string, job.Submission, bool) error { return nil },
		}, inner, page)
		var questions strings.Builder
		err = filled.Ask(t.Context(), strings.NewReader(answers), &questions)
		for _, r := range questions.String() {
			require.True(t, r == '\n' || r >= ' ' && r != 0x7f && (r < 0x80 || r >= 0xa0), "%q reaches the terminal", r)
		}
		if err != nil || filled.Conclusion != Submit {
			return
		}
		// What the form has taken the definition takes, too.
		s, err := filled.Submission()
		require.NoError(t, err)
		_, err = controller.Render(s)
		if s.Script == "" {
			require.NoError(t, err, "%q", answers)
		}
	})
}

// A brokenWriter cannot be written to.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestQuestionsThatNobodySeesAreNotAsked(t *testing.T) {
	d := demo(t)
	require.ErrorIs(t, d.Ask(t.Context(), strings.NewReader(strings.Repeat("\n", 100)), brokenWriter{}), io.ErrClosedPipe)
}
