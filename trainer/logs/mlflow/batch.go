package mlflow

import (
	"cmp"
	"slices"
	"strings"

	"newtop/trainer/logs"
)

const (
	// maxHeld is how many metrics are ordered at once at most: 32 MB in each million.
	maxHeld = 1 << 22
	// rowsAtOnce is how many rows a call of Read gives.
	rowsAtOnce = 4096
)

// point is a value of a metric.
type point struct {
	step  int64
	wall  int64 // in milliseconds since 1970
	value float64
	key   uint32
	seq   uint32 // in the order of the store
}

// batch holds metrics until they have been put in order and given. Neither of MLflow's stores keeps them in an order
// that one could rely on, and one of them keeps each metric apart.
type batch struct {
	keys   []string
	ids    map[string]uint32
	last   []int // by key: the newest row with it
	points []point
	given  int // of the points
	rows   int
	row    logs.Row
	giving bool // some are not given yet
	whole  bool // all that there was has been read once
	story
}

// collected orders what was collected and gives it, once that is all or enough. It reports whether there is more.
func (b *batch) collected(more bool, err error, to logs.Sink) (bool, error) {
	if err != nil || more && len(b.points) < maxHeld {
		return more, err
	}
	b.whole = !more
	b.order()
	return b.give(to), nil
}

func (b *batch) id(key string) uint32 {
	id, ok := b.ids[key]
	if !ok {
		if b.ids == nil {
			b.ids = map[string]uint32{}
		}
		id = uint32(len(b.keys))
		key = strings.Clone(key) // it may be a part of something large
		b.ids[key] = id
		b.keys = append(b.keys, key)
		b.last = append(b.last, 0)
	}
	return id
}

func (b *batch) add(key uint32, value float64, wall, step int64) {
	b.points = append(b.points, point{step: step, wall: wall, value: value, key: key, seq: uint32(len(b.points))})
}

// order sorts the points as they were written: by their time, and those of one time by step. Metrics that were written
// one after the other, each with all of its steps, as from a history once training is over, are sorted by step first.
func (b *batch) order() {
	byTime := func(x, y point) int {
		return cmp.Or(cmp.Compare(x.wall, y.wall), cmp.Compare(x.step, y.step), cmp.Compare(x.seq, y.seq))
	}
	by := byTime
	if b.inTurn() {
		by = func(x, y point) int { return cmp.Or(cmp.Compare(x.step, y.step), byTime(x, y)) }
	}
	if !slices.IsSortedFunc(b.points, by) {
		slices.SortFunc(b.points, by)
	}
}

// span is where a metric's points lie.
type span struct {
	n        int
	from, to int64 // time
	lo, hi   int64 // step
}

// inTurn reports whether a metric begins when another has ended, and has the same steps.
func (b *batch) inTurn() bool {
	spans := make([]span, len(b.keys))
	for _, p := range b.points {
		if s := &spans[p.key]; s.n == 0 {
			*s = span{1, p.wall, p.wall, p.step, p.step}
		} else {
			*s = span{s.n + 1, min(s.from, p.wall), max(s.to, p.wall), min(s.lo, p.step), max(s.hi, p.step)}
		}
	}
	wide := spans[:0]
	for i, s := range spans {
		// What MLflow measures of the machine it counts apart.
		if s.hi > s.lo && !strings.HasPrefix(b.keys[i], "system/") {
			wide = append(wide, s)
		}
	}
	for _, first := range wide {
		some := (first.hi - first.lo) / 4
		for _, then := range wide {
			if then.from > first.to && then.lo <= first.lo+some && then.hi >= first.hi-some {
				return true
			}
		}
	}
	return false
}

// give gives the next rows, and behind the last how the run ended. It reports whether there is more. A row is what has
// one step and one time. A program that does not tell its steps has the step 0 in all of its rows, which are in the
// order of time.
func (b *batch) give(to logs.Sink) bool {
	for n := 0; n < rowsAtOnce && b.given < len(b.points); n++ {
		b.giveRow(to)
	}
	if b.giving = b.given < len(b.points); b.giving {
		return true
	}
	b.points, b.given = b.points[:0], 0
	if cap(b.points) > 1<<16 { // only the first time there is that much
		b.points = nil
	}
	if b.whole {
		b.end(to)
	}
	return !b.whole
}

func (b *batch) giveRow(to logs.Sink) {
	first := b.points[b.given]
	b.rows++
	b.row.Clear()
	b.row.Step = float64(first.step)
	if first.wall > 0 {
		b.row.Wall = float64(first.wall) / 1000
	}
	for ; b.given < len(b.points); b.given++ {
		p := b.points[b.given]
		if p.step != first.step || p.wall != first.wall || b.last[p.key] == b.rows {
			break
		}
		b.last[p.key] = b.rows
		b.row.Set(b.keys[p.key], p.value)
	}
	to.Row(&b.row)
}
