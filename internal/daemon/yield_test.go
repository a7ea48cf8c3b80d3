package daemon_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/daemon"
)

func TestAYieldedSessionMovesToTheNextBuild(t *testing.T) {
	hosted := make(chan string, 8)
	hoster := func(build string) daemon.Hoster {
		return func(ctx context.Context, request []byte, _ daemon.Hosted) (int, error) {
			hosted <- build + " runs " + string(request)
			<-ctx.Done()
			hosted <- build + " suspends " + string(request)
			return 0, nil
		}
	}
	before := serve(t, daemon.Options{Build: "1", Hoster: hoster("1")})
	require.NoError(t, func() error {
		_, err := before.client(t).Start(t.Context(), daemon.Launch{Name: "e", Request: []byte("e"), Yields: true}, nil)
		return err
	}())
	require.Equal(t, "1 runs e", await(t, hosted, "the session"))

	client, err := daemon.Open(t.Context(), daemon.ClientOptions{Folder: before.options.Folder, Build: "2", Start: func() error {
		serve(t, daemon.Options{Folder: before.options.Folder, Build: "2", Hoster: hoster("2"), Begin: func(context.Context) ([]daemon.Launch, error) {
			return []daemon.Launch{{Name: "e", Request: []byte("e"), Yields: true}}, nil
		}})
		return nil
	}})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"1 suspends e", "2 runs e"}, []string{await(t, hosted, "the end"), await(t, hosted, "the session")})
	before.wait(t)
	require.Eventually(t, func() bool {
		living, err := client.List(t.Context())
		return err == nil && len(living) == 1 && living[0].Names[0] == "e"
	}, patience, patience/1000)

	require.NoError(t, client.End(t.Context(), "e"))
	require.Equal(t, "2 suspends e", await(t, hosted, "the end"))
}
