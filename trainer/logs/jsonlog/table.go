package jsonlog

import (
	"cmp"
	"math"
	"slices"
	"time"

	"newtop/trainer/logs"
)

// table is a document as rows, in the order in which they were written as far as that can be known.
type table struct {
	rows    []logs.Row
	columns []column // lists of numbers, of which item i is of row i
	points  []logs.Row
	timed   bool // whether all points tell when they were written
	info    logs.Info
}

type column struct {
	key   string
	items []any
}

// tabulate makes rows of a document. There are four kinds: a list of objects, each a row; an object of lists of numbers,
// where row i is epoch i+1 unless there is a list named epoch or step; an object of {values, steps, timestamps}, as
// Sacred writes it; and Hugging Face's trainer state, with such a list of objects in log_history.
func tabulate(root any) *table {
	t := &table{timed: true}
	switch root := root.(type) {
	case list:
		t.list(root)
	case object:
		if history, ok := root.get("log_history").(list); ok {
			t.info.Program = "Hugging Face"
			if steps, ok := root.get("max_steps").(float64); ok && steps > 0 && steps < 1<<53 {
				t.info.Steps = steps
			}
			t.list(history)
			break
		}
		t.object("", root)
	}
	t.fromColumns()
	key := func(r logs.Row) float64 { return r.Step }
	if t.timed {
		key = func(r logs.Row) float64 { return r.Wall }
	}
	slices.SortStableFunc(t.points, func(a, b logs.Row) int { return cmp.Compare(key(a), key(b)) })
	t.rows = append(t.rows, t.points...)
	return t
}

// list takes each object in a list as a row. It reports whether there is one.
func (t *table) list(l list) (any bool) {
	for _, item := range l.items {
		o, ok := item.(object)
		if !ok {
			continue
		}
		any = true
		r := blank()
		r.Values = make([]logs.Value, 0, len(o))
		put(&r, "", o)
		if len(r.Values) > 0 {
			t.rows = append(t.rows, r)
		}
	}
	return any
}

// put puts a value where its key says, and what is in an object under its longer names.
func put(r *logs.Row, key string, value any) {
	switch v := value.(type) {
	case float64:
		r.Set(key, v)
	case string:
		if n, ok := logs.ParseNumber([]byte(v)); ok {
			r.Set(key, n)
		} else if a := logs.AxisOf(key); a == logs.Wall || a == logs.Elapsed {
			if wall, ok := logs.ParseTime([]byte(v), time.Local); ok {
				r.Wall = wall
			}
		}
	case object:
		if key != "" {
			key += "/"
		}
		for _, m := range v {
			put(r, key+m.key, m.value)
		}
	}
}

// object takes the lists in an object, and in objects in it.
func (t *table) object(prefix string, o object) {
	for _, m := range o {
		switch v := m.value.(type) {
		case list:
			if !t.list(v) && slices.ContainsFunc(v.items, isNumber) {
				t.columns = append(t.columns, column{prefix + m.key, v.items})
			}
		case object:
			values, isSeries := v.get("values").(list)
			steps, hasSteps := v.get("steps").(list)
			switch {
			case isSeries && hasSteps:
				times, _ := v.get("timestamps").(list)
				t.series(prefix+m.key, values.items, steps.items, times.items)
			case prefix == "" && isConfig([]byte(m.key)):
				t.info.Config = make(map[string]any)
				v.flatten("", t.info.Config)
			case prefix == "" && (m.key == "history" || m.key == "metrics"):
				t.object("", v)
			default:
				t.object(prefix+m.key+"/", v)
			}
		}
	}
}

func isNumber(item any) bool {
	_, ok := number(item)
	return ok
}

// series takes one metric's values with the step of each, and the times, which Sacred writes in UTC without saying so.
func (t *table) series(key string, values, steps, times []any) {
	for i := range min(len(values), len(steps)) {
		r := blank()
		put(&r, "step", steps[i])
		if i < len(times) {
			if text, ok := times[i].(string); ok {
				if wall, ok := logs.ParseTime([]byte(text), time.UTC); ok {
					r.Wall = wall
				}
			}
		}
		t.timed = t.timed && !math.IsNaN(r.Wall)
		if v, ok := number(values[i]); ok {
			r.Add(key, v)
			t.points = append(t.points, r)
		}
	}
}

func number(item any) (float64, bool) {
	switch v := item.(type) {
	case float64:
		return v, true
	case string:
		return logs.ParseNumber([]byte(v))
	}
	return 0, false
}

// fromColumns makes rows of lists of numbers.
func (t *table) fromColumns() {
	n, counted := 0, false
	for _, c := range t.columns {
		n = max(n, len(c.items))
		a := logs.AxisOf(c.key)
		counted = counted || a == logs.Steps || a == logs.Epochs
	}
	for i := range n {
		r := blank()
		for _, c := range t.columns {
			if i < len(c.items) {
				put(&r, c.key, c.items[i])
			}
		}
		if !counted {
			r.Epoch = float64(i + 1)
		}
		if len(r.Values) > 0 {
			t.rows = append(t.rows, r)
		}
	}
}

func blank() (r logs.Row) {
	r.Clear()
	return r
}
