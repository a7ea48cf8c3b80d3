package reader

import (
	"fmt"
	"strings"

	"github.com/rmctl/rmctl/config"
	"github.com/rmctl/rmctl/internal/xpath"
)

// Joined are the records of a join. In expressions they are children of the command's records.
type Joined struct {
	all  []*xpath.Node            // below every record
	byID map[string][]*xpath.Node // below the record with that id
}

// A joinExpressions is a join of a reader with its records, which are read when needed.
type joinExpressions struct {
	*config.Join
	when   *expression
	with   *expression // nil to join by the id of the record
	isRead bool
	joined Joined
}

// join attaches the records of other commands to a record.
func (r *Reader) join(on *evaluation, id string) error {
	for _, each := range r.joins {
		needed, err := each.when.isTrue(on)
		if err != nil {
			return err
		}
		if !needed || r.query.Join == nil {
			continue
		}
		wanted := id
		if each.with != nil {
			if wanted, err = each.with.text(on); err != nil {
				return err
			}
		}
		if err := r.attach(each, on.record.Root, wanted); err != nil {
			return err
		}
	}
	return nil
}

// joinAll attaches the joined records that belong to every record.
func (r *Reader) joinAll(record *Record) error {
	for _, each := range r.joins {
		if !each.ByAll || r.query.Join == nil {
			continue
		}
		if err := r.attach(each, record.Root, ""); err != nil {
			return err
		}
	}
	return nil
}

// attach attaches the joined records for an id to a record.
func (r *Reader) attach(join *joinExpressions, root *xpath.Node, id string) error {
	if err := join.read(r.query.Join); err != nil {
		r.failure = err
		return err
	}
	for _, node := range join.joined.below(id, r.query.IDs) {
		node.Name, node.Parent = join.Name, root
		root.Children = append(root.Children, node)
	}
	return nil
}

// read reads the records, once.
func (j *joinExpressions) read(read func(*config.Join) (Joined, error)) (err error) {
	if j.isRead {
		return nil
	}
	j.isRead = true
	j.joined, err = read(j.Join)
	if err != nil && !j.Optional {
		return fmt.Errorf("join %q: %w", j.Name, err)
	}
	return nil
}

// below returns the joined records for an id.
func (j Joined) below(id string, ids *IDs) []*xpath.Node {
	if j.byID == nil {
		return j.all
	}
	if own, has := j.byID[id]; has || ids == nil {
		return own
	}
	job, _, _ := ids.Split(id)
	return j.byID[job]
}

// A JoinReader reads the output of a join.
type JoinReader struct {
	source source
	joined Joined
	size   int
}

// NewJoinReader returns a reader for the output of a join.
func NewJoinReader(join *config.Join, query Query) (*JoinReader, error) {
	reader := &Reader{definition: join.Reader, query: query}
	if reader.query.Attribute == nil {
		reader.query.Attribute = func(string) (string, bool) { return "", false }
	}
	j := &JoinReader{}
	by, _ := idExpressions(join.Reader)
	if join.By.IsSet() {
		by = newExpression(join.By)
	}
	if by != nil && !join.ByAll {
		j.joined.byID = map[string][]*xpath.Node{}
	} else {
		by = nil
	}
	if len(join.Reader.Sources) == 0 {
		return nil, fmt.Errorf("%s: join %q has no source", join.Position, join.Name)
	}
	where := newExpression(join.Reader.Sources[0].Where)
	var err error
	j.source, err = newSource(join.Reader, query.Mark, func(record *Record) error {
		if record.Damage != "" || reader.whole(record) != nil {
			return nil // ignore an unreadable optional join
		}
		on := reader.evaluation(record)
		if counts, err := where.isTrue(on); err != nil || !counts {
			return err
		}
		id, err := by.text(on)
		if err != nil {
			return err
		}
		return j.add(record, id, join.Split)
	})
	return j, err
}

// add keeps a record.
func (j *JoinReader) add(record *Record, id, split string) error {
	if j.size += sizeOf(record); j.size > mostKept {
		return errTooMuch
	}
	if j.joined.byID == nil {
		j.joined.all = append(j.joined.all, record.Root)
		return nil
	}
	ids := []string{id}
	if split != "" {
		ids = strings.Split(id, split)
	}
	for i, each := range ids {
		root := record.Root
		if i > 0 {
			root = root.Clone()
		}
		j.joined.byID[each] = append(j.joined.byID[each], root)
	}
	return nil
}

// Write reads a part of the output.
func (j *JoinReader) Write(p []byte) (int, error) { return j.source.Write(p) }

// Close ends the output and returns its records.
func (j *JoinReader) Close() (Joined, error) {
	if err := j.source.Close(); err != nil {
		return Joined{}, err
	}
	return j.joined, nil
}
