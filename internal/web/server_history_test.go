package web

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

func TestARestartedServerShowsItsHistory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.json")
	options := testPlatform(t)
	options.History = path
	webtest.Demonstrate(t, options.Platform.Model(), 30, 20, time.Now())
	server := options.server(t)
	require.NoError(t, server.Close())

	options = testPlatform(t)
	options.History = path
	b := serveWith(t, options, func(m *model.Model) { webtest.Demonstrate(t, m, 0, 20, time.Now().Add(-3*time.Hour)) }).enter()
	require.Contains(t, b.get("/timeline"), "4000010 train-resnet, ", "a job that ran then")
	require.Contains(t, b.get("/timeline"), ", no longer listed</title>")
	require.Contains(t, b.get("/utilisation"), `data-label="Jobs queued">21</td>`)
}
