package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rmctl/rmctl/internal/agentclient/agenttest"
	"github.com/rmctl/rmctl/internal/rmctltest"
)

// playAgentProgram returns the path of a program that plays agents.
func playAgentProgram(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "play-agent") // from which TestMain knows what to do
	require.NoError(t, os.Symlink(program, path))
	return path
}

// calls calls the API of a server with a body, which may be nil, and returns the answer.
func (s *servedRun) calls(t *testing.T, method, path string, body any) (status int, answer string) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	address := url.URL{Scheme: s.address.Scheme, Host: s.address.Host, Path: "/api/v1/" + path}
	request, err := http.NewRequestWithContext(t.Context(), method, address.String(), strings.NewReader(string(text)))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+s.address.Query().Get("token"))
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	printed, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(printed)
}

// starts makes a resource manager of an agent and waits until it is started.
func (s *servedRun) starts(t *testing.T, name, script string) {
	t.Helper()
	status, answer := s.calls(t, "POST", "managers", map[string]any{"name": name, "agent": []string{playAgentProgram(t), script}})
	require.Equal(t, http.StatusCreated, status, answer)
	status, answer = s.calls(t, "POST", "managers/"+name+"/start", nil)
	require.Less(t, status, 300, answer)
	s.awaits(t, "managers/"+name, `"state":"STARTED"`)
}

// awaits waits until the API answers with a text.
func (s *servedRun) awaits(t *testing.T, path, text string) {
	t.Helper()
	var answer string
	require.Eventually(t, func() bool {
		_, answer = s.calls(t, "GET", path, nil)
		return strings.Contains(answer, text)
	}, time.Minute, 10*time.Millisecond, "%s", &answer)
}

func TestAJobOfAnAgentIsControlledByTheAPI(t *testing.T) {
	s := runServe(t)
	s.starts(t, "pe", filepath.Join(rmctltest.Project(t), "internal", "agentclient", "testdata", "job.txt"))
	status, answer := s.calls(t, "POST", "managers/pe/jobs", map[string]any{"executable": "./hello.sh", "attributes": map[string]any{"NPROCS": 2}, "directory": "/tmp"})
	require.Equal(t, http.StatusCreated, status, answer)
	var submitted struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(answer), &submitted))
	job := "managers/pe/jobs/" + submitted.ID
	s.awaits(t, job, `"detail":"RUNNING"`)
	s.awaits(t, "managers/pe/nodes", `"name":"localhost"`)
	_, answer = s.calls(t, "GET", job+"/output", nil)
	require.Equal(t, "hello from rank 1\nhello from rank 0\n", answer)
	_, answer = s.calls(t, "GET", "managers/pe/queues", nil)
	require.Contains(t, answer, `"name":"default"`)
	_, answer = s.calls(t, "POST", "managers/pe/form", map[string]any{})
	require.Contains(t, answer, `"name":"NPROCS"`)
	status, answer = s.calls(t, "POST", job+"/hold", nil)
	require.GreaterOrEqual(t, status, 400)
	require.Contains(t, answer, `the agent of \"pe\" has no command to hold jobs: the proxy protocol does not support it`)
	status, answer = s.calls(t, "POST", job+"/cancel", nil)
	require.Less(t, status, 300, answer)
	s.awaits(t, job, `"detail":"CANCELED"`)
}

func TestTheFormOfACapturedAgentIsShownAndItsRefusalIsAnErrorOfTheAPI(t *testing.T) {
	script := agenttest.Capture(t, "pe-agent.txt")
	s := runServe(t)
	s.starts(t, "pe", script)
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	opened, err := browser.Get(s.address.String())
	require.NoError(t, err)
	require.NoError(t, opened.Body.Close())
	page, err := browser.Get("http://" + s.address.Host + "/launch?rm=pe")
	require.NoError(t, err)
	shown, err := io.ReadAll(page.Body)
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	require.Contains(t, string(shown), "agent provides this form.")
	require.Contains(t, string(shown), "Specify number of program tasks (MP_PROCS)")
	status, answer := s.calls(t, "POST", "managers/pe/jobs", map[string]any{"executable": "./hello", "attributes": map[string]any{"tasks": 2}, "directory": "/tmp"})
	require.Equal(t, http.StatusBadGateway, status, answer)
	require.Contains(t, answer, "the job was not submitted: Invalid working directory")
	status, answer = s.calls(t, "POST", "managers/pe/jobs", map[string]any{"executable": "./hello", "attributes": map[string]any{"MP_PROCS": 0}, "directory": "/tmp"})
	require.Equal(t, http.StatusBadRequest, status, answer)
}
