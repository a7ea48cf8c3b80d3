package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/stacks"
	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/internal/web/webtest"
	"github.com/rmctl/rmctl/model"
)

// showsJob returns a browser before a server with one running job and a reader of stacks, and the
// address of that job's stacks.
func showsJob(t *testing.T, read func(ctx context.Context, manager, id string, samples int) ([]*stacks.Tree, error)) (*browser, url.Values) {
	t.Helper()
	s := testPlatform(t)
	s.Stacks = read
	b := serveWith(t, s, func(m *model.Model) {
		m.Update(func(u *model.Update) {
			u.Put(model.Row{Kind: model.ResourceManager, ID: "cluster"})
			u.Put(model.Row{Manager: "cluster", Kind: model.Queue, ID: "long"})
			for id, detail := range map[string]string{"4000001": "RUNNING", "4000002": "QUEUED_ACTIVE"} {
				attributes := webtest.Attributes(vocabulary.AttributeJobDetail, detail, vocabulary.AttributeJobUser, userName(t))
				u.Put(model.Row{Manager: "cluster", Kind: model.Job, Parent: "long", ID: id, Attributes: attributes})
			}
		})
	}).enter()
	return b, url.Values{"rm": {"cluster"}, "id": {"4000001"}}
}

func TestTheStacksOfAJobAreShown(t *testing.T) {
	t.Parallel()
	var asked []any
	b, job := showsJob(t, func(_ context.Context, manager, id string, samples int) ([]*stacks.Tree, error) {
		asked = []any{manager, id, samples}
		stack := stacks.Stack{Threads: []stacks.Thread{{Frames: []stacks.Frame{{Function: "exchange<b>\x1b[2J", File: "/src/solver.c", Line: 88}, {Function: "main"}}}}}
		ranks, _ := ranges.Parse("0-2,5-511")
		return []*stacks.Tree{stacks.NewTree([]stacks.Answer{{Ranks: ranks, Stack: stack}}, []stacks.Missing{{Ranks: ranges.Set{{First: 3, Last: 4}}, Reason: "gdb crashed"}})}, nil
	})
	address := "/job/stacks?" + job.Encode()
	require.Contains(t, b.get(listing.ElementAddress("/job", "cluster", "4000001")), "/job/stacks?", "the page of the job leads there")
	require.NotContains(t, b.get(listing.ElementAddress("/job", "cluster", "4000002")), "/job/stacks?", "a queued job has no processes")
	require.NotContains(t, b.get(address), "exchange", "the page alone attaches to nothing")
	require.Nil(t, asked)

	job.Set("samples", "3")
	response, page := b.post("/job/stacks", job)
	require.Equal(t, http.StatusOK, response.StatusCode, page)
	require.Equal(t, []any{"cluster", "4000001", 3}, asked)
	require.Contains(t, page, "510 ranks 0-2,5-511")
	require.Contains(t, page, "exchange&lt;b&gt;")
	require.NotContains(t, page, "\x1b")
	require.Contains(t, page, "ranks 3-4: gdb crashed")
}

func TestStacksThatCannotBeReadAreRefused(t *testing.T) {
	t.Parallel()
	b, job := showsJob(t, func(context.Context, string, string, int) ([]*stacks.Tree, error) {
		return nil, errors.New("no rmctl-node for <arm64>")
	})
	for _, samples := range []string{"", "0", "11", "-1", "many"} {
		job.Set("samples", samples)
		response, page := b.post("/job/stacks", job)
		require.Equal(t, http.StatusBadRequest, response.StatusCode, samples)
		require.Contains(t, page, "invalid number of samples")
	}
	job.Set("samples", "1")
	response, page := b.post("/job/stacks", job)
	require.Equal(t, http.StatusBadGateway, response.StatusCode)
	require.Contains(t, page, "cannot read the stacks of job 4000001: no rmctl-node for &lt;arm64&gt;")

	response, _ = b.do(http.MethodPost, "/job/stacks", http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, nil)
	require.Equal(t, http.StatusForbidden, response.StatusCode, "without the token of the page")
	response, _ = b.do(http.MethodGet, "/job/stacks?rm=cluster&id=77", nil, nil)
	require.Equal(t, http.StatusNotFound, response.StatusCode)
}

func TestOfManyReadersOfStacksSomeAreRefused(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}, 3), make(chan struct{})
	b, job := showsJob(t, func(ctx context.Context, _, _ string, _ int) ([]*stacks.Tree, error) {
		begun <- struct{}{}
		<-release
		return nil, nil
	})
	job.Set("samples", "1")
	ended := make(chan int, 2)
	for range 2 {
		go func() {
			response, _ := b.post("/job/stacks", job)
			ended <- response.StatusCode
		}()
		<-begun
	}
	response, page := b.post("/job/stacks", job)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Contains(t, page, "try again in a moment")
	close(release)
	require.Equal(t, []int{http.StatusOK, http.StatusOK}, []int{<-ended, <-ended})
}
