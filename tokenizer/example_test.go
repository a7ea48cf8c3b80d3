package tokenizer_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/tokenizer"
)

const queueDefinition = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="example">
<control-data>
  <attribute name="queues"/>
  <start-up-command name="get-queues">
    <arg>qstat -Q</arg>
    <stdout-parser delim="\n">
      <target ref="queues">
        <match>
          <expression>(\w+)\s+(\d+)</expression>
          <add field="value"><entry valueGroup="1"/></add>
        </match>
      </target>
    </stdout-parser>
  </start-up-command>
</control-data>
</resource-manager-builder>`

func Example() {
	definition, problems := config.Load("example.xml", []byte(queueDefinition))
	if definition == nil {
		log.Fatal(problems.Err())
	}
	env := attribute.NewEnvironment()
	for _, one := range definition.Attributes {
		env.Define(one.Name(), one.Clone())
	}
	command := definition.Commands[0]
	run, err := tokenizer.Compile(command.StdoutParser, env, "")
	if err != nil {
		log.Fatal(err)
	}
	if err := run.Run(strings.NewReader("Queue   Max\nnormal  100\ndebug   4\n")); err != nil {
		log.Fatal(err)
	}
	fmt.Println(env.Text("queues"))
	// Output: [normal, debug]
}

func ExampleTokenizer_Write() {
	definition, _ := config.Load("example.xml", []byte(queueDefinition))
	env := attribute.NewEnvironment()
	env.Define("queues", attribute.New("queues"))
	run, err := tokenizer.Compile(definition.Commands[0].StdoutParser, env, "")
	if err != nil {
		log.Fatal(err)
	}
	// The stream may arrive in pieces of any size.
	for _, piece := range []string{"nor", "mal  100\nde", "bug 4\n"} {
		fmt.Fprint(run, piece)
	}
	if err := run.Close(); err != nil {
		log.Fatal(err)
	}
	stats := run.Stats()
	fmt.Println(env.Text("queues"), stats.Matched, "of", stats.Segments)
	// Output: [normal, debug] 2 of 3
}

func ExampleOptions_Compile() {
	definition, _ := config.Load("example.xml", []byte(queueDefinition))
	env := attribute.NewEnvironment()
	env.Define("queues", attribute.New("queues"))
	options := tokenizer.Options{Trace: func(event tokenizer.Event) {
		switch e := event.(type) {
		case tokenizer.SegmentEvent:
			fmt.Printf("%d %q\n", e.Number, e.Text)
		case tokenizer.MissEvent:
			if e.Near {
				fmt.Printf("  matches only %q\n", e.Text[e.Start:e.End])
			}
		case tokenizer.ActionEvent:
			fmt.Printf("  %s of %s is %v\n", e.Field, e.Attribute.Name(), e.Value)
		}
	}}
	run, err := options.Compile(definition.Commands[0].StdoutParser, env, "")
	if err != nil {
		log.Fatal(err)
	}
	if err := run.Run(strings.NewReader("normal 100\ndebug 4 (drained)")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 "normal 100"
	//   value of queues is [normal]
	// 2 "debug 4 (drained)"
	//   matches only "debug 4"
}
