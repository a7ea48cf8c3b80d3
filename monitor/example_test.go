package monitor_test

import (
	"context"
	"fmt"

	"github.com/rmctl/rmctl/model"
	"github.com/rmctl/rmctl/monitor"
)

// A blackboard is a scheduler with fixed listings.
type blackboard map[model.Kind][]row

func (b blackboard) Rows(_ context.Context, kind model.Kind, each func(string, monitor.Facts) error) (monitor.Outcome, error) {
	for _, r := range b[kind] {
		if err := each(r.id, r.facts); err != nil {
			return monitor.Outcome{}, err
		}
	}
	return monitor.Outcome{}, nil
}

// A program watches a scheduler: each snapshot is complete, and two of them show the changes.
func ExampleMonitor() {
	pictures := model.New()
	pictures.Update(func(u *model.Update) { u.Put(model.Row{Kind: model.ResourceManager, ID: "cluster"}) })
	watching := monitor.New(monitor.Options{Model: pictures, Manager: "cluster", Rows: blackboard{
		model.Queue: {rowOf("batch", "state=NORMAL")},
		model.Node:  {rowOf("n1", "state=UP", "cpus=4", "cpusUsed=4")},
		model.Job:   {rowOf("7", "state=RUNNING", "queue=batch", "owner=ada", "nodes=n1")},
	}.Rows})
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	picture := pictures.Snapshot() // before the first listing, which is the only change
	ended := make(chan error)
	go func() { ended <- watching.Run(ctx) }()

	for {
		newer, err := pictures.Next(ctx, picture)
		if err != nil {
			break // the context has ended
		}
		before, _ := picture.Manager("cluster")
		after, _ := newer.Manager("cluster")
		for change := range after.Changes(model.Job, before) {
			fmt.Println("job", change.After.ID(), change.After.State())
			stop()
		}
		picture = newer
	}
	fmt.Println(<-ended)
	// Output:
	// job 7 RUNNING
	// context canceled
}
