package monitor

import "github.com/rmctl/rmctl/model"

// An itself takes listings of the resource manager, a row with attributes, into the model.
type itself struct {
	monitor *Monitor
	shown   []string // ids of the attributes that the model has of the newest row
}

func (i *itself) facts() []string { return []string{factFurther} }

func (i *itself) startListing() {}

func (i *itself) end(bool) {}

// merge applies the row. Other attributes of the resource manager stay; those of the previous
// row are removed.
func (i *itself) merge(u *model.Update, _ string, facts Facts, _ uint64) {
	row := rowOf{monitor: i.monitor, row: model.Row{Kind: model.ResourceManager, ID: i.monitor.options.Manager}}
	for _, id := range i.shown {
		row.row.Attributes = append(row.row.Attributes, model.Attribute{ID: id})
	}
	i.shown = nil
	before := len(row.row.Attributes)
	row.further(u, facts)
	for _, attribute := range row.row.Attributes[before:] {
		i.shown = append(i.shown, attribute.ID)
	}
	u.Put(row.row)
}
