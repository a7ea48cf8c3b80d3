package form_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/form"
)

// define reads a definition with that control-data.
func define(t testing.TB, controlData string) *config.Definition {
	t.Helper()
	return read(t, "test.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="test"><control-data>`+
		controlData+`</control-data></resource-manager-builder>`))
}

func read(t testing.TB, file string, source []byte) *config.Definition {
	t.Helper()
	definition, err := config.Read(file, source, nil)
	require.NoError(t, err)
	return definition
}

// shared reads a definition from the field; the test is skipped where these are not.
func shared(t testing.TB, name string) *config.Definition {
	t.Helper()
	file := filepath.Join(cmp.Or(os.Getenv("RMCTL_SHARED"), filepath.Join("..", "..", "..", "shared")), "definitions", name+".xml")
	source, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		t.Skipf("the definitions from the field are not in ../../../shared; set RMCTL_SHARED to their folder")
	}
	require.NoError(t, err)
	return read(t, file, source)
}

// environment returns the attributes of a definition with their defaults.
func environment(definition *config.Definition) *attribute.Environment {
	env := attribute.NewEnvironment()
	for _, defined := range definition.Attributes {
		a := defined.Clone()
		if a.Value() == nil {
			a.SetValue(a.Field(attribute.FieldDefault))
		}
		env.Define(a.Name(), a)
	}
	return env
}

func newForm(definition *config.Definition) *form.Form {
	return form.New(definition, environment(definition))
}

func page(t testing.TB, f *form.Form, title string) *form.Page {
	t.Helper()
	found, err := f.Page(title, false)
	require.NoError(t, err)
	return found
}

// names returns what is true of a set, sorted by the caller's list.
func among(set map[string]bool, candidates ...string) []string {
	found := []string{}
	for _, name := range candidates {
		if set[name] {
			found = append(found, name)
		}
	}
	return found
}
