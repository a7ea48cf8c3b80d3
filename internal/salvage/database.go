package salvage

import (
	"encoding/binary"
	"errors"
	"math"
)

// A Database is a damaged database.
type Database struct {
	pages  *pageFile
	tables map[string][]leaf // the reachable ones of each table, in order
	stray  []leaf            // unreachable ones, of any table
	lost   int               // referenced pages that belong to no table
}

// A leaf is a page with rows.
type leaf struct {
	page      int
	low, high int64 // its rows have greater numbers than low, and none greater than high
}

var allNumbers = leaf{low: math.MinInt64, high: math.MaxInt64}

// Open opens a database and finds the leaves of its tables.
func Open(path string) (*Database, error) {
	pages, err := openPages(path)
	if err != nil {
		return nil, err
	}
	d := &Database{pages: pages, tables: map[string][]leaf{}}
	if err := d.find(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close closes the database.
func (d *Database) Close() error { return d.pages.Close() }

// Lost returns how many pages of tables cannot be read.
func (d *Database) Lost() int { return d.lost }

// find finds the leaves.
func (d *Database) find() error {
	reached := map[int]bool{}
	at := allNumbers
	at.page = 1
	schema := d.walk(at, reached)
	roots := map[string]int{}
	d.eachOf(schema, func(row Row) {
		if len(row.Values) < 4 || row.Values[0] != "table" {
			return
		}
		name, isText := row.Values[1].(string)
		root, isNumber := row.Values[3].(int64)
		if isText && isNumber {
			roots[name] = int(root)
		}
	}, func() { d.lost++ })
	for name, root := range roots {
		at.page = root
		d.tables[name] = d.walk(at, reached)
	}
	free, isKnown := d.free()
	if !isKnown {
		free = nil
	}
	for number := 2; number <= d.pages.count; number++ {
		page, err := d.pages.page(number)
		if err != nil {
			return err
		}
		if page[0] == leafPage && !reached[number] && !free[number] {
			at.page = number
			d.stray = append(d.stray, at)
		}
	}
	if !isKnown && d.lost == 0 && len(roots) > 0 {
		d.stray = nil // nothing is missing, so these pages were given up
	}
	return nil
}

// walk returns the leaves below a page, in order. Reached are the pages where it was.
func (d *Database) walk(at leaf, reached map[int]bool) []leaf {
	page, err := d.pages.page(at.page)
	if err != nil || reached[at.page] {
		d.lost++
		return nil
	}
	n := nodeOf(at.page, page)
	switch n.kind() {
	case leafPage:
		reached[at.page] = true
		return []leaf{at}
	case interiorPage:
		reached[at.page] = true
	default:
		d.lost++
		return nil
	}
	var leaves []leaf
	low := at.low
	for _, place := range n.cells() {
		key, _, err := varint(page[min(place+4, pageSize):])
		if place == 0 || err != nil {
			d.lost++
			continue
		}
		leaves = append(leaves, d.walk(leaf{int(binary.BigEndian.Uint32(page[place:])), low, key}, reached)...)
		low = key
	}
	return append(leaves, d.walk(leaf{int(binary.BigEndian.Uint32(page[n.start+8:])), low, at.high}, reached)...)
}

// free returns the unused pages, and whether these are all of them.
func (d *Database) free() (map[int]bool, bool) {
	free := map[int]bool{}
	first, err := d.pages.page(1)
	if err != nil {
		return free, false
	}
	count := int(binary.BigEndian.Uint32(first[36:]))
	add := func(number int) bool {
		if number < 2 || number > d.pages.count || free[number] {
			return false
		}
		free[number] = true
		return true
	}
	for trunk := int(binary.BigEndian.Uint32(first[32:])); trunk != 0; {
		page, err := d.pages.page(trunk)
		if err != nil || !add(trunk) {
			return free, false
		}
		trunk = int(binary.BigEndian.Uint32(page))
		leaves := int(binary.BigEndian.Uint32(page[4:]))
		if leaves > pageSize/4-2 {
			return free, false
		}
		for i := range leaves {
			if !add(int(binary.BigEndian.Uint32(page[8+4*i:]))) {
				return free, false
			}
		}
	}
	return free, len(free) == count && string(first[:16]) == "SQLite format 3\x00"
}

// Each gives the rows of a table that can be reached to a function, in order, and calls
// unreadable for each one that cannot be decoded. If references are damaged, there may be rows
// of others among them.
func (d *Database) Each(table string, do func(Row), unreadable func()) {
	d.eachOf(d.tables[table], do, unreadable)
}

// EachStray gives rows to a function that cannot be reached, of any table. Unreadable is called
// for each cell that cannot be decoded.
func (d *Database) EachStray(do func(Row), unreadable func()) {
	d.eachOf(d.stray, func(row Row) {
		row.IsStray = true
		do(row)
	}, unreadable)
}

func (d *Database) eachOf(leaves []leaf, do func(Row), unreadable func()) {
	for _, at := range leaves {
		page, err := d.pages.page(at.page)
		n := nodeOf(at.page, page)
		if err != nil || n.kind() != leafPage {
			unreadable()
			continue
		}
		for _, place := range n.cells() {
			row, err := d.pages.row(page, place)
			if err != nil {
				unreadable()
				continue
			}
			row.IsStray = row.Number <= at.low || row.Number > at.high
			do(row)
		}
	}
}
