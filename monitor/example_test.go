package monitor_test

import (
	"context"
	"fmt"
	"log"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// A blackboard is a scheduler that somebody has written down.
type blackboard map[model.Kind][]row

func (b blackboard) Rows(_ context.Context, kind model.Kind, each func(string, monitor.Facts) error) (monitor.Outcome, error) {
	for _, r := range b[kind] {
		if err := each(r.id, r.facts); err != nil {
			return monitor.Outcome{}, err
		}
	}
	return monitor.Outcome{}, nil
}

// A program watches a scheduler: whoever listens is told what changes, and the
// picture is always whole.
func ExampleMonitor() {
	pictures := model.New()
	pictures.Update(func(u *model.Update) { u.Put(model.Row{Kind: model.ResourceManager, ID: "cluster"}) })
	watching := monitor.New(monitor.Options{Model: pictures, Manager: "cluster", Source: blackboard{
		model.Queue: {rowOf("batch", "state=NORMAL")},
		model.Node:  {rowOf("n1", "state=UP", "cpus=4", "cpusUsed=4")},
		model.Job:   {rowOf("7", "state=RUNNING", "queue=batch", "owner=ada", "nodes=n1")},
	}})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	jobs := model.Ref{Manager: "cluster", Kind: model.Queue, ID: "batch"}
	listener := pictures.Listen(ctx, 100, model.Interest{Of: jobs, Children: true})
	go func() { ended <- watching.Run(ctx) }()

	event, err := listener.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	ids, _ := event.IDs()
	fmt.Println(event.Type, event.Of, ids, event.Changes[0].After.State())
	stop()
	fmt.Println(<-ended)
	// Output:
	// new job 7 RUNNING
	// context canceled
}
