package quantity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/quantity"
)

func TestAmountsOfMemoryAreMebibytes(t *testing.T) {
	for text, want := range map[string]string{"4G": "4096", "23.5G": "24064", "512kb": "0", "2048": "2", "1.5 T": "1572864", "many": "", "4X": ""} {
		value, isAmount := quantity.Mebibytes(text, "K")
		require.Equal(t, want, value, text)
		require.Equal(t, want != "", isAmount, text)
	}
}

func TestLengthsOfTimeAreSeconds(t *testing.T) {
	for text, want := range map[string]string{
		"1-02:03:04": "93784", "00:00:15": "15", "2:30": "150", "300 sec": "300", "30d": "2592000", "5": "300", "1:2:3:4": "", "-1:00": "", "soon": "",
	} {
		value, isLength := quantity.Seconds(text, "m")
		require.Equal(t, want, value, text)
		require.Equal(t, want != "", isLength, text)
	}
}

func TestWholeNumbersAreAdded(t *testing.T) {
	total, _ := quantity.Sum([]string{"1", "20"})
	require.Equal(t, "21", total)
	total, odd := quantity.Sum([]string{"1", "x"})
	require.Empty(t, total)
	require.Equal(t, "x", odd)
}
