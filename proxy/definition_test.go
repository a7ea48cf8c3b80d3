package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

func TestDefinitionsOfCasesAreOnesTheModelTakes(t *testing.T) {
	refused := map[string]bool{"definitions/unknown-type.frame": true}
	for name, each := range frameCases(t) {
		for _, definition := range each.Definitions {
			converted, err := definition.Model()
			require.NoError(t, err, name)
			model.New().Update(func(change *model.Update) {
				require.Equal(t, refused[name], change.Define(*converted) != nil, name)
			})
		}
	}
}

func TestDefinitionsKeepTheirLimits(t *testing.T) {
	for _, each := range []struct {
		wire      Definition
		modelType model.Type
		low, high float64
	}{
		{Definition{Type: "INTEGER", Default: "1", Minimum: "1", Maximum: "64"}, model.Integer, 1, 64},
		{Definition{Type: "INTEGER", Default: "1", Minimum: "-2147483648", Maximum: "2147483647"}, model.Integer, -1 << 31, 1<<31 - 1},
		{Definition{Type: "BIGINTEGER", Default: "1", Minimum: "0", Maximum: "2147483648"}, model.Integer, 0, 1 << 31},
		{Definition{Type: "BIGINTEGER", Default: "1", Minimum: "-2147483649", Maximum: "0"}, model.Integer, -1<<31 - 1, 0},
		{Definition{Type: "DOUBLE", Default: "1.5", Minimum: "0.0", Maximum: "64.0"}, model.Double, 0, 64},
		{Definition{Type: "BIGINTEGER", Default: "0", Minimum: "0", Maximum: "9223372036854775807"}, model.Integer, 0, 1 << 63},
	} {
		converted, err := each.wire.Model()
		require.NoError(t, err)
		require.Equal(t, each.modelType, converted.Type)
		require.True(t, converted.Limited)
		require.Equal(t, [2]float64{each.low, each.high}, [2]float64{converted.Min, converted.Max})
		if each.high < 1<<63 { // else a float64 rounds it up
			require.Equal(t, each.wire, DefinitionOf(converted))
		}
	}
}

func TestDefinitionsWithoutUsableLimitsAreRefused(t *testing.T) {
	for _, limits := range [][2]string{{"x", "1"}, {"2", "1"}, {"NaN", "NaN"}, {"", "1"}} {
		_, err := Definition{Type: "INTEGER", Default: "1", Minimum: limits[0], Maximum: limits[1]}.Model()
		require.Error(t, err)
	}
}

func TestNumbersBeyond64BitsBecomeTexts(t *testing.T) {
	converted, err := Definition{Type: bigInteger, Default: "0", Minimum: "0", Maximum: "9223372036854775808"}.Model()
	require.NoError(t, err)
	require.Equal(t, model.String, converted.Type)
	require.False(t, converted.Limited)
}

func TestTimesTravelAsTexts(t *testing.T) {
	require.Equal(t, Definition{ID: "ended", Type: "STRING"}, DefinitionOf(&model.Definition{ID: "ended", Type: model.Date}))
	converted, err := Definition{Type: "DATE", Default: "5/6/10 11:32 AM", Minimum: "1/1/10 12:00 AM", Maximum: "1/1/20 12:00 AM"}.Model()
	require.NoError(t, err)
	require.Equal(t, model.String, converted.Type)
}

func TestOtherTruthsAreFalse(t *testing.T) {
	converted, err := Definition{Type: "BOOLEAN", Default: "yes"}.Model()
	require.NoError(t, err)
	require.Equal(t, []string{"false"}, converted.Default)
}
