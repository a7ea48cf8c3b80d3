package attribute_test

import (
	"strings"
	"testing"

	"github.com/rmctl/rmctl/attribute"
	"github.com/stretchr/testify/require"
)

func TestTheSizeOfAFieldIsLimited(t *testing.T) {
	half := strings.Repeat("x", attribute.LargestValue/2)
	list := func(texts ...string) func(a *attribute.Attribute) error {
		return func(a *attribute.Attribute) error { return a.Add(attribute.FieldValue, texts...) }
	}
	put := func(key, text string) func(a *attribute.Attribute) error {
		return func(a *attribute.Attribute) error { return a.Put(attribute.FieldValue, key, text, true) }
	}
	set := func(field attribute.Field, value attribute.Value) func(a *attribute.Attribute) error {
		return func(a *attribute.Attribute) error { return a.Set(field, value) }
	}
	for name, c := range map[string]struct {
		field attribute.Field
		fits  []func(a *attribute.Attribute) error
		fails func(a *attribute.Attribute) error
	}{
		"text":           {attribute.FieldValue, nil, set(attribute.FieldValue, half+half+"x")},
		"tooltip":        {attribute.FieldTooltip, nil, set(attribute.FieldTooltip, half+half+"x")},
		"list":           {attribute.FieldValue, []func(a *attribute.Attribute) error{list(half, "x")}, list(half)},
		"whole list":     {attribute.FieldValue, nil, set(attribute.FieldValue, []string{half, half})},
		"map":            {attribute.FieldValue, []func(a *attribute.Attribute) error{put("a", half)}, put("b", half)},
		"key":            {attribute.FieldValue, []func(a *attribute.Attribute) error{put("a", half)}, put(half, "")},
		"unset entry":    {attribute.FieldValue, []func(a *attribute.Attribute) error{put("a", half)}, func(a *attribute.Attribute) error { return a.Put(attribute.FieldValue, half, "", false) }},
		"replaced entry": {attribute.FieldValue, []func(a *attribute.Attribute) error{put("a", half), put("a", half), put("b", "x")}, put("b", half)},
		"replaced list":  {attribute.FieldValue, []func(a *attribute.Attribute) error{list(half), set(attribute.FieldValue, "x"), list(half)}, list(half)},
		"given list":     {attribute.FieldValue, []func(a *attribute.Attribute) error{func(a *attribute.Attribute) error { a.SetValue([]string{half}); return nil }}, list(half)},
	} {
		t.Run(name, func(t *testing.T) {
			a := attribute.New("output")
			for _, fits := range c.fits {
				require.NoError(t, fits(a))
			}
			before := a.Size(c.field)
			err := c.fails(a)
			require.EqualError(t, err, "storing "+c.field.String()+` of attribute "output": larger than the limit of 64 MiB`)
			require.Equal(t, before, a.Size(c.field))
		})
	}
}

func TestTheSizeOfAFieldCoversItsTextForm(t *testing.T) {
	a := attribute.New("x")
	require.Zero(t, a.Size(attribute.FieldValue))
	for _, change := range []func() error{
		func() error { return a.Set(attribute.FieldValue, "text") },
		func() error { return a.Add(attribute.FieldValue, "a", "bc") },
		func() error { return a.Add(attribute.FieldValue, "") },
		func() error { return a.Put(attribute.FieldValue, "key", "value", true) },
		func() error { return a.Put(attribute.FieldValue, "other", "", false) },
		func() error { return a.Put(attribute.FieldValue, "key", "", true) },
		func() error { return a.Set(attribute.FieldValue, map[string]string{"k": "v"}) },
	} {
		require.NoError(t, change())
		require.GreaterOrEqual(t, a.Size(attribute.FieldValue), len(a.Text(attribute.FieldValue)))
		require.Equal(t, a.Size(attribute.FieldValue), a.Clone().Size(attribute.FieldValue))
	}
	require.Equal(t, 16+2, a.Size(attribute.FieldValue))
}
