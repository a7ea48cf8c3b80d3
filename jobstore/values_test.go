package jobstore

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/stored"
)

func FuzzValuesAreGivenBackAsTheyWere(f *testing.F) {
	for _, text := range []string{"", "plain", "\xff\x00", "é", "[1,2]", "\"", "null", "\u2028<&>"} {
		f.Add("name", text, 7)
		f.Add(text, "value", -1)
	}
	f.Fuzz(func(t *testing.T, name, text string, number int) {
		attributes := map[string]any{
			name: text, name + "1": number, name + "2": number%2 == 0, name + "3": nil,
			name + "4": []string{text, name, ""}, name + "5": map[string]string{text: name, name: text},
		}
		encoded, err := encodeAttributes(attributes)
		require.NoError(t, err)
		decoded, err := decodeAttributes(encoded)
		require.NoError(t, err)
		require.Equal(t, attributes, decoded)

		encoded, err = encodeTexts([]string{name, text, ""})
		require.NoError(t, err)
		texts, err := decodeTexts(encoded)
		require.NoError(t, err)
		require.Equal(t, []string{name, text, ""}, texts)
	})
}

func FuzzDamagedRecordsAreErrors(f *testing.F) {
	for _, encoded := range []string{`[{"name":"a","text":"b"}]`, `[{"name":[255,0],"list":["x",[256]]}]`, `["a",[1]]`, `[[1.5]]`, `{}`, `[`, ``, `null`, `[{"name":null,"map":[{}]}]`} {
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		if _, err := decodeAttributes(encoded); err != nil {
			require.ErrorIs(t, err, stored.ErrDamaged)
		}
		if _, err := decodeTexts(encoded); err != nil {
			require.ErrorIs(t, err, stored.ErrDamaged)
		}
	})
}
