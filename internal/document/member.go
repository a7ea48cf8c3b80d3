package document

import "strconv"

// A Member is a table in a table.
type Member struct {
	Name string
	*Table
}

// Members reads a key whose value is a table of tables, in the order of the document. Their errors are
// among those of the table.
func (t *Table) Members(key string) []Member {
	found, has := t.get(key)
	if !has || !t.is(key, found, kindTable, "a table of tables") {
		return nil
	}
	var members []Member
	for _, name := range found.value.table.order {
		one := found.value.table.entries[name]
		if one.value.kind != kindTable {
			t.refuse(one.key, "%s %.200q is %s, but must be a table", key, name, one.value.kind)
			continue
		}
		one.value.table.place = one.key
		members = append(members, Member{name, one.value.table})
		t.members = append(t.members, one.value.table)
	}
	return members
}

// Number reads a key whose value is a whole number of at least least. It returns 0 without a valid
// number.
func (t *Table) Number(key string, least int) int {
	found, has := t.get(key)
	if !has || !t.is(key, found, kindInteger, "a whole number") {
		return 0
	}
	number, err := strconv.ParseInt(found.value.text, 10, 32)
	if err != nil || int(number) < least {
		t.refuse(found.value.place, "%q is %.40s, but must be a whole number of at least %d", key, found.value.text, least)
		return 0
	}
	return int(number)
}

// RefuseValue adds an error at the value of a key, or at an item of it if that is a list.
func (t *Table) RefuseValue(key string, item int, reason string) {
	found, has := t.get(key)
	if !has {
		t.Refuse(key, reason)
		return
	}
	at := found.value.place
	if found.value.kind == kindList && item < len(found.value.items) {
		at = found.value.items[item].place
	}
	t.refuse(at, "%s", reason)
}
