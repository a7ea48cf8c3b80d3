package reader

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/internal/hostlist"
	"github.com/rmctl/rmctl/internal/ranges"
	"github.com/rmctl/rmctl/internal/xpath"
)

// mostExpanded bounds the records that one record expands to. The largest systems have fewer nodes.
const mostExpanded = 200_000

var errTooManyItems = errors.New("a list in the output has more than 200,000 items")

// expand passes on a record for each item of the lists in some of its fields. A record without a value in
// the first field is passed on unchanged. It fails if hand fails or there are too many items.
func expand(record *Record, fields []string, hand func(*Record) error) error {
	if record.Damage != "" || record.Root.Child(xpath.FieldName(fields[0])) == nil {
		return hand(record)
	}
	lists := make([][]string, len(fields))
	for i, name := range fields {
		field := record.Root.Child(xpath.FieldName(name))
		if field == nil {
			return hand(damaged(record, fmt.Errorf("the record lacks the field %s", name)))
		}
		items, err := itemsOf(field.Text)
		switch {
		case errors.Is(err, errTooManyItems):
			return err
		case err != nil:
			return hand(damaged(record, fmt.Errorf("the field %s: %w", name, err)))
		case len(items) != len(lists[0]) && i > 0:
			return hand(damaged(record, fmt.Errorf("the field %s has %d items, and the field %s %d", name, len(items), fields[0], len(lists[0]))))
		}
		lists[i] = items
	}
	for at := range lists[0] {
		one := *record
		one.Root = record.Root.Clone()
		for i, name := range fields {
			one.Root.Child(xpath.FieldName(name)).Text = lists[i][at]
		}
		if err := hand(&one); err != nil {
			return err
		}
	}
	return nil
}

// damaged returns a record marked as damaged.
func damaged(record *Record, why error) *Record {
	record.Damage = why.Error()
	return record
}

// itemsOf returns the items of a list: numbers and ranges of them, or names of nodes as schedulers write them.
func itemsOf(list string) (items []string, err error) {
	visit := func(item string) bool {
		items = append(items, item)
		return len(items) <= mostExpanded
	}
	if _, isRanges := ranges.Parse(list); isRanges {
		list = "[" + strings.Trim(list, "[] ") + "]"
	}
	isWhole := hostlist.Each(list, visit)
	switch {
	case len(items) > mostExpanded:
		return nil, errTooManyItems
	case !isWhole:
		return nil, fmt.Errorf("invalid list %.100q", list)
	}
	return items, nil
}
