// Package points makes rows of metrics that their writer keeps apart, each in a file of its own or in a table whose
// order says nothing.
package points

import (
	"cmp"
	"slices"
	"strings"

	"newtop/trainer/logs"
)

const (
	// MaxHeld is how many metrics are ordered at once at most: 32 MB in each million.
	MaxHeld = 1 << 22
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

// Batch holds points until they have been put in order and given.
type Batch struct {
	BySteps bool // a step is told once, whatever the times of its metrics

	keys   []string
	ids    map[string]uint32
	last   []int // by key: the newest row with it
	points []point
	given  int // of the points
	rows   int
	row    logs.Row
}

// ID is a number for a metric.
func (b *Batch) ID(key string) uint32 {
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

// Grow makes room for so many points.
func (b *Batch) Grow(n int) { b.points = slices.Grow(b.points, min(n, MaxHeld)) }

// Len is how many points it holds, and Given how many of them were given.
func (b *Batch) Len() int { return len(b.points) }

// Given is how many of its points were given.
func (b *Batch) Given() int { return b.given }

// Add adds a point of the metric of a number: its time in milliseconds since 1970, 0 where that is unknown.
func (b *Batch) Add(key uint32, value float64, wall, step int64) {
	b.points = append(b.points, point{step: step, wall: wall, value: value, key: key, seq: uint32(len(b.points))})
}

// Order sorts the points as they were written: by their time, and those of one time by step. Metrics that were written
// one after the other, each with all of its steps, as from a history once training is over, are sorted by step first.
func (b *Batch) Order() {
	steps := b.BySteps || b.inTurn()
	by := func(x, y point) int {
		switch {
		case x.step != y.step && (steps || x.wall == y.wall):
			return cmp.Compare(x.step, y.step)
		case x.wall != y.wall:
			return cmp.Compare(x.wall, y.wall)
		}
		return cmp.Compare(x.seq, y.seq)
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
func (b *Batch) inTurn() bool {
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

// Give gives the next rows, and reports whether there are more. A row is what has
// one step and one time. A program that does not tell its steps has the step 0 in all of its rows, which are in the
// order of time.
func (b *Batch) Give(to logs.Sink) bool {
	for n := 0; n < rowsAtOnce && b.given < len(b.points); n++ {
		b.giveRow(to)
	}
	if b.given < len(b.points) {
		return true
	}
	b.points, b.given = b.points[:0], 0
	if cap(b.points) > 1<<16 { // only the first time there is that much
		b.points = nil
	}
	return false
}

func (b *Batch) giveRow(to logs.Sink) {
	first := b.points[b.given]
	b.rows++
	b.row.Clear()
	b.row.Step = float64(first.step)
	for ; b.given < len(b.points); b.given++ {
		p := b.points[b.given]
		if p.step != first.step || p.wall != first.wall && !b.BySteps || b.last[p.key] == b.rows {
			break
		}
		b.last[p.key] = b.rows
		if p.wall > 0 {
			b.row.Wall = float64(p.wall) / 1000
		}
		b.row.Set(b.keys[p.key], p.value)
	}
	to.Row(&b.row)
}
