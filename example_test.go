package rmctl_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/rmctl/rmctl"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
)

// A program submits a job, waits for it and reads its output.
func Example() {
	defer inTemporaryHome()()
	ctx := context.Background()
	client, err := rmctl.Open(ctx, rmctl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	j, err := client.Submit(ctx, "local", job.Submission{Executable: "echo", Arguments: []string{"hello"}})
	if err != nil {
		log.Fatal(err)
	}
	if j, err = client.Wait(ctx, j); err != nil {
		log.Fatal(err)
	}
	fmt.Println(j.Detail, *j.ExitCode)
	if err := client.Output(ctx, j, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// COMPLETED 0
	// hello
}

func ExampleOpen() {
	defer inTemporaryHome()()
	client, err := rmctl.Open(context.Background(), rmctl.Options{ConfigFolder: "config", StateFolder: "state"})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	jobs, err := client.Jobs(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(jobs), "jobs")
	// Output: 0 jobs
}

func ExampleClient_Targets() {
	defer inTemporaryHome()()
	client, _ := opened()
	defer client.Close()
	targets, err := client.Targets()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("default:", targets.Default)
	slurm, err := targets.Find("slurm")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(slurm.Name, slurm.Definition, slurm.Transport)
	_, err = targets.Find("slrum")
	fmt.Println(strings.Contains(err.Error(), `did you mean "slurm"?`))
	// Output:
	// default: local
	// slurm slurm local
	// true
}

func ExampleClient_Submit() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	j, err := client.Submit(ctx, "local", job.Submission{
		Executable: "hostname",
		Values:     []job.Assignment{{Name: "job-name", Value: "greeting"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("submitted", j.Target, j.ID)
	_, err = client.Submit(ctx, "local", job.Submission{
		Executable: "hostname",
		Values:     []job.Assignment{{Name: "job-nam", Value: "greeting"}},
	})
	fmt.Println(err)
	// Output:
	// submitted local 1
	// attribute "job-nam": definition "local" has no such attribute
	// did you mean "job-name"?
}

func ExampleClient_Jobs() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	j := submitted(client, "read line")
	jobs, err := client.Jobs(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, open := range jobs {
		fmt.Println(open.ID, open.Tag == j.Tag)
	}
	// Output: 1 true
}

func ExampleClient_Status() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	j := submitted(client, "exit 3")
	if _, err := client.Wait(ctx, j); err != nil {
		log.Fatal(err)
	}
	j, err := client.Status(ctx, j)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(j.Detail, j.Detail.Ended())
	// Output: FAILED true
}

func ExampleClient_Wait() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	j, err := client.Wait(ctx, submitted(client, "exit 3"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(j.Detail, *j.ExitCode)
	// Output: FAILED 3
}

func ExampleClient_Output() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	j, err := client.Wait(ctx, submitted(client, "echo one; echo two"))
	if err != nil {
		log.Fatal(err)
	}
	if err := client.Output(ctx, j, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// one
	// two
}

// Follow needs no Wait: it ends with the job.
func ExampleClient_Follow() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	if err := client.Follow(ctx, submitted(client, "echo one; sleep 0.1; echo two"), os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// one
	// two
}

func ExampleClient_Cancel() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	j := submitted(client, "sleep 600")
	if err := client.Cancel(ctx, j); err != nil {
		log.Fatal(err)
	}
	j, err := client.Wait(ctx, j)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(j.Detail)
	// Output: CANCELED
}

// Watch yields jobs when their states change; here only how they end is shown.
func ExampleClient_Watch() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	submitted(client, "exit 0")
	for j, err := range client.Watch(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if j.Detail.Ended() {
			fmt.Println("job", j.ID, "is", j.Detail)
		}
	}
	// Output: job 1 is COMPLETED
}

// The job store also has the jobs that have ended.
func ExampleClient_Store() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	if _, err := client.Wait(ctx, submitted(client, "exit 3")); err != nil {
		log.Fatal(err)
	}
	store, err := client.Store(ctx)
	if err != nil {
		log.Fatal(err)
	}
	jobs, err := store.List(ctx, jobstore.Filter{All: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, j := range jobs {
		fmt.Println(j.ID, j.Detail)
	}
	// Output: 1 FAILED
}

// The controller of a target has everything that a definition can do.
func ExampleClient_Controller() {
	defer inTemporaryHome()()
	client, ctx := opened()
	defer client.Close()
	controller, err := client.Controller(ctx, "local")
	if err != nil {
		log.Fatal(err)
	}
	rendering, err := controller.Render(job.Submission{Executable: "./simulate", Arguments: []string{"run 1.dat"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(rendering.Script)
	// Output:
	// #!/bin/sh
	// exec ./simulate 'run 1.dat'
}

// opened returns a client with the folders of the user.
func opened() (*rmctl.Client, context.Context) {
	ctx := context.Background()
	client, err := rmctl.Open(ctx, rmctl.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return client, ctx
}

// submitted returns a job of a shell script.
func submitted(client *rmctl.Client, script string) job.Job {
	j, err := client.Submit(context.Background(), "local", job.Submission{Executable: "sh", Arguments: []string{"-c", script}})
	if err != nil {
		log.Fatal(err)
	}
	return j
}

// inTemporaryHome makes a new folder the home and the working directory until the
// returned function is called. The definition "local" keeps its jobs there, too.
func inTemporaryHome() func() {
	home, err := os.MkdirTemp("", "rmctl-example-")
	if err != nil {
		log.Fatal(err)
	}
	work, err := os.Getwd()
	if err != nil {
		log.Fatal(err)
	}
	before := map[string]string{}
	for _, variable := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		before[variable] = os.Getenv(variable)
		os.Setenv(variable, home)
	}
	if err := os.Chdir(home); err != nil {
		log.Fatal(err)
	}
	return func() {
		for variable, value := range before {
			os.Setenv(variable, value)
		}
		os.Chdir(work)
		os.RemoveAll(home)
	}
}
