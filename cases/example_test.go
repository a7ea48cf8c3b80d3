package cases_test

import (
	"context"
	"fmt"
	"log"

	"github.com/rmctl/rmctl/cases"
	"github.com/rmctl/rmctl/config/check"
)

// A recorded output is tried on a definition without any file.
func ExampleRunner_Evaluate() {
	definition, problems := check.Load("mysite.xml", []byte(`<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="mysite">
  <control-data>
    <submit-batch name="submit" waitForId="true">
      <arg>sbatch job.sh</arg>
      <stdout-parser delim="\n">
        <target ref="@jobId">
          <match>
            <expression>Submitted batch job (\d+)</expression>
            <set field="name"><entry valueGroup="1"/></set>
            <set field="value"><entry value="SUBMITTED"/></set>
          </match>
        </target>
      </stdout-parser>
    </submit-batch>
  </control-data>
</resource-manager-builder>`), nil)
	if err := problems.Err(); err != nil {
		log.Fatal(err)
	}
	answer, err := (&cases.Runner{Loaded: definition}).Evaluate(context.Background(), &cases.Case{
		Command: "submit-batch",
		Stdout:  []byte("Welcome to the cluster\nSubmitted batch job 4711\n"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Arguments)
	fmt.Println(answer.Status.State, answer.Job.ID, answer.Job.Detail)
	// Output:
	// [sbatch job.sh]
	// OK 4711 SUBMITTED
}

// All cases below a folder are tried, several at a time; the results come in
// the order of the folders.
func ExampleRunner_RunAll() {
	folders, err := cases.Find("../testdata/slurm/status-running", "../testdata/flows/slurm-to-its-end")
	if err != nil {
		log.Fatal(err)
	}
	runner := &cases.Runner{}
	err = runner.RunAll(context.Background(), folders, func(result cases.Result) error {
		fmt.Println(result.Folder, result.Verdict)
		for _, difference := range result.Differences {
			fmt.Println(difference)
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ../testdata/slurm/status-running passed
	// ../testdata/flows/slurm-to-its-end passed
}
