package web

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/vocabulary"
	"github.com/rmctl/rmctl/internal/web/listing"
	"github.com/rmctl/rmctl/model"
)

func TestAJobIsSubmittedAgainWithChanges(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"here": "local"})
	before, address := d.submits("sh", "-c", "echo \"a b\"")
	d.sees(before.ID, vocabulary.StateTerminated)
	again := regexp.MustCompile(`href="([^"]+)">Submit again<`).FindStringSubmatch(d.get(address))
	require.NotNil(t, again)
	form := d.get(strings.ReplaceAll(again[1], "&amp;", "&"))
	require.Contains(t, form, `name="program" value="sh"`)
	require.Contains(t, form, `value="-c &#39;echo &#34;a b&#34;&#39;"`)

	p := d.program()
	path := "/managers/here/jobs/" + before.ID + "/resubmit"
	second := p.done(http.MethodPost, path, map[string]any{"attributes": map[string]any{"jobName": "second"}})
	require.NotEqual(t, before.ID, second["id"])
	require.Equal(t, "second", second["name"])
	recorded, err := d.store.ByTag(t.Context(), second["tag"].(string))
	require.NoError(t, err)
	require.Equal(t, []string{"sh", "-c", `echo "a b"`}, recorded.Arguments)
	status, _ := p.call(http.MethodPost, "/managers/here/jobs/4711/resubmit", map[string]any{})
	require.Equal(t, http.StatusNotFound, status)
}

func TestThePageOfAJobStatesEachFactOnce(t *testing.T) {
	t.Parallel()
	d := launchSite(t, map[string]string{"here": "local"})
	j, address := d.submits("true")
	d.awaits(j.ID, "listed with its end and user", func(e *model.Element) bool {
		return model.Ended(model.Job, listing.SeenState(e)) && listing.GivenText(e, vocabulary.AttributeJobUser) != ""
	})
	page, _, _ := strings.Cut(d.get(address), `<div id="job-history">`)
	for _, name := range []string{"Queue", "User", "Submitted", "Ended", "Tag"} {
		require.Equal(t, 1, strings.Count(page, ">"+name+"</dt>"), name)
	}
	require.NotContains(t, page, ">State</dt>")
	require.NotContains(t, page, "COMPLETED", "the word is enough")
	require.Equal(t, 1, strings.Count(page, j.Tag+"<"))
}
