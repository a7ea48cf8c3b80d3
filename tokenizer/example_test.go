package tokenizer_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/rmctl/rmctl/attribute"
	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/config/check"
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
	definition, problems := check.Load("example.xml", []byte(queueDefinition), nil)
	if definition == nil {
		log.Fatal(problems.Err())
	}
	env := attribute.NewEnvironment()
	for _, one := range definition.Attributes {
		env.Define(one.Name(), one.Clone())
	}
	command := definition.Commands[0]
	run, err := tokenizer.Options{}.Compile(command.StdoutParser, env, "")
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
	definition, _ := check.Load("example.xml", []byte(queueDefinition), nil)
	env := attribute.NewEnvironment()
	env.Define("queues", attribute.New("queues"))
	run, err := tokenizer.Options{}.Compile(definition.Commands[0].StdoutParser, env, "")
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
	definition, _ := check.Load("example.xml", []byte(queueDefinition), nil)
	env := attribute.NewEnvironment()
	env.Define("queues", attribute.New("queues"))
	options := tokenizer.Options{Trace: func(event tokenizer.TraceEvent) {
		switch event.Kind {
		case "segment":
			fmt.Printf("%d %q\n", event.Number, event.Text)
		case "miss":
			if near := event.Explain(); near.Near {
				fmt.Printf("  matches only %q\n", event.Text[near.Start:near.End])
			}
		case "action":
			fmt.Printf("  %s of %s is %v\n", event.Field, event.Attribute.Name(), event.Value)
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

const jsonDefinition = `<resource-manager-builder xmlns="http://eclipse.org/ptp/rm" name="example">
<control-data>
  <attribute name="queues"/>
  <start-up-command name="get-queues">
    <arg>list-queues --json</arg>
    <stdout-parser><type>queues-from-json</type></stdout-parser>
  </start-up-command>
</control-data>
</resource-manager-builder>`

// queueReader is a custom tokenizer: it reads the whole stream and changes the environment itself.
type queueReader struct {
	env    *attribute.Environment
	stream strings.Builder
}

func (q *queueReader) Write(p []byte) (int, error) { return q.stream.Write(p) }

// Close is called when the stream has ended; its error becomes that of the parser.
func (q *queueReader) Close() error {
	var listing []struct{ Name string }
	if err := json.Unmarshal([]byte(q.stream.String()), &listing); err != nil {
		return fmt.Errorf("reading the list of queues: %w", err)
	}
	for _, queue := range listing {
		if err := q.env.Lookup("queues").Add(attribute.FieldValue, queue.Name); err != nil {
			return err
		}
	}
	return nil
}

func ExampleFactory() {
	options := tokenizer.Options{Types: map[string]tokenizer.Factory{
		"queues-from-json": func(_ *config.Parser, env *attribute.Environment, _ string) (io.WriteCloser, error) {
			return &queueReader{env: env}, nil
		},
	}}
	definition, _ := check.Load("example.xml", []byte(jsonDefinition), nil)
	for _, stream := range []string{`[{"name": "normal"}, {"name": "debug"}]`, `squeue: error`} {
		env := attribute.NewEnvironment()
		env.Define("queues", attribute.New("queues"))
		run, err := options.Compile(definition.Commands[0].StdoutParser, env, "")
		if err != nil {
			log.Fatal(err)
		}
		err = run.Run(strings.NewReader(stream))
		fmt.Printf("%q, %v\n", env.Text("queues"), err)
	}
	// A definition may use only types that the program registered.
	_, err := tokenizer.Options{}.Compile(definition.Commands[0].StdoutParser, attribute.NewEnvironment(), "")
	fmt.Println(err)
	// Output:
	// "[normal, debug]", <nil>
	// "", example.xml:6:5: reading the list of queues: invalid character 's' looking for beginning of value
	// example.xml:6:5: unknown parser type "queues-from-json"
}
