package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/model"
)

func TestGroupsWithoutElementsAreNotSent(t *testing.T) {
	update := Update{Change: New, Kind: model.Job, Parent: "1002", Groups: []Group{{Attributes: Attributes{{"name", "nobody"}}}, {IDs: IDsOf(1010)}}}
	require.Equal(t, []string{"1002", "1", "1010", "0"}, update.Frame().Arguments)
}

func TestUpdatesThatTheProtocolDoesNotHaveAreIgnoredByPeers(t *testing.T) {
	for _, update := range []Update{{Change: New, Kind: model.ResourceManager}, {Change: Removed, Kind: model.Universe}, {Change: 99}} {
		read, err := ParseUpdate(update.Frame())
		require.NoError(t, err)
		require.Equal(t, Unknown, read.Change)
	}
}
