package control_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/rmctl/rmctl/config/check"
	"github.com/rmctl/rmctl/control"
	"github.com/rmctl/rmctl/job"
	"github.com/rmctl/rmctl/jobstore"
	"github.com/rmctl/rmctl/remote"
)

// A definition is loaded by the name that it is shipped under, or by its file.
func ExampleLoadDefinition() {
	definition, problems, err := check.LoadDefinition("slurm")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(definition.Name, problems.Err() != nil)
	_, _, err = check.LoadDefinition("no-such-file.xml")
	fmt.Println(err)
	// Output:
	// slurm false
	// reading the definition: stat no-such-file.xml: no such file or directory
}

// A submission can be rendered without running it.
func ExampleController_Render() {
	definition, _, err := check.UsableDefinition("slurm")
	if err != nil {
		log.Fatal(err)
	}
	local, err := remote.NewLocal()
	if err != nil {
		log.Fatal(err)
	}
	controller := control.New(control.Options{Definition: definition, Connection: local})
	submission := job.Submission{
		Executable: "./simulate",
		Arguments:  []string{"run 1.dat"},
		Values:     []job.Assignment{{Name: "partition", Value: "debug"}, {Name: "time", Value: "30"}},
		Directory:  "/scratch/ada",
	}
	rendering, err := controller.Render(submission)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(rendering.Script)
	for _, each := range rendering.Commands {
		if each.Command.Element.IsSubmit() {
			fmt.Println("runs", each.Arguments[0], "in", each.Directory)
		}
	}

	submission.Values = []job.Assignment{{Name: "partion", Value: "debug"}}
	_, err = controller.Render(submission)
	fmt.Println(err)
	// Output:
	// #!/bin/sh
	// #SBATCH --job-name="simulate"
	// #SBATCH --partition=debug
	// #SBATCH --time=30
	// exec ./simulate 'run 1.dat'
	// runs sbatch in /scratch/ada
	// attribute "partion": definition "slurm" has no such attribute
	// did you mean "partition"?
}

// A program submits a job, follows it to its end and reads its output.
func ExampleController_Submit() {
	// The definition "local" keeps its jobs below these folders; this example
	// leaves nothing behind.
	home, err := os.MkdirTemp("", "rmctl-example-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(home)
	for _, variable := range []string{"HOME", "XDG_STATE_HOME"} {
		defer os.Setenv(variable, os.Getenv(variable))
		if err := os.Setenv(variable, home); err != nil {
			log.Fatal(err)
		}
	}
	ctx := context.Background()

	store, err := jobstore.Open(ctx, filepath.Join(home, "state"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	connection, err := remote.NewLocal()
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	definition, _, err := check.UsableDefinition("local")
	if err != nil {
		log.Fatal(err)
	}
	controller := control.New(control.Options{Definition: definition, Connection: connection, Store: store})

	job, err := controller.Submit(ctx, job.Submission{
		Executable: "sh", Arguments: []string{"-c", `echo "hello from job $RMCTL_JOB_ID"`}, Directory: home,
	})
	if err != nil {
		log.Fatal(err)
	}
	job, err = controller.Wait(ctx, job, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Detail, *job.ExitCode)
	if err := controller.Output(ctx, job, control.Stream{}, os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// COMPLETED 0
	// hello from job 1
}
