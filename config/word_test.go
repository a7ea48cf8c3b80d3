package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
)

// A command that a shell elsewhere reads is one word, with its quotes.
func TestAnArgumentMayBeOneWord(t *testing.T) {
	definition, err := config.Read("test.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" xmlns:x="urn:rmctl:definition:1" name="test">
		<control-data><submit-batch name="run"><arg>qrsh -pty y</arg><arg x:word="true">${ptp_rm:program#value} ${ptp_rm:words#value}</arg></submit-batch>
		</control-data></resource-manager-builder>`), nil)
	require.NoError(t, err)
	for words, want := range map[string][]string{
		`'a  b' \$HOME`: {"qrsh", "-pty", "y", `sh 'a  b' \$HOME`},
		"":              {"qrsh", "-pty", "y", "sh"},
	} {
		env := attribute.NewEnvironment()
		env.SetVariable("program", "sh")
		env.SetVariable("words", words)
		got, err := config.Scope{Environment: env}.Words(definition.Command(config.SubmitBatch).Arguments)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
