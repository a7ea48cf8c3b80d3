package monitor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func FuzzTimes(f *testing.F) {
	for _, text := range []string{"2026-01-02T03:04:05", "1767322000", "Mon Jan _2 15:04:05 2006", "-1", "99999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if date, readable := dateOf(text, time.UTC); readable {
			_, err := time.Parse(time.RFC3339Nano, date)
			require.NoError(t, err, "%q", text)
		}
	})
}
