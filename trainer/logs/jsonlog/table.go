package jsonlog

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
	"newtop/trainer/logs/shape"
)

// table is a document as rows, in the order in which they were written as far as that can be known. It is the sink of
// the parser that reads them.
type table struct {
	logs.Nobody
	rows    []logs.Row
	info    logs.Info
	parser  *shape.Parser
	columns []column // lists of numbers, of which item i is of row i
	points  []point
	text    []byte
}

type column struct {
	key   string
	items [][]byte
}

// point is a value of a metric with its step, as it is written, and when that was, empty if nothing says it.
type point struct {
	key               string
	value, step, time []byte
}

func (t *table) Row(r *logs.Row) {
	row := *r
	row.Values = slices.Clone(r.Values)
	t.rows = append(t.rows, row)
}

func (t *table) Info(i logs.Info) {
	t.info.Steps = cmp.Or(i.Steps, t.info.Steps)
	t.info.Name = cmp.Or(i.Name, t.info.Name)
	for k, v := range i.Config {
		if t.info.Config == nil {
			t.info.Config = make(map[string]any)
		}
		t.info.Config[k] = v
	}
}

// tabulate makes rows of a document. There are five kinds: a list of objects, each a row; an object of lists of
// numbers, or of objects of numbers by their index, where row i is epoch i+1 unless there is a list that counts; an
// object of {values, steps, timestamps}, as Sacred writes it; Hugging Face's trainer state, with such a list of objects
// in log_history; and pandas' columns and data.
func tabulate(root any) *table {
	t := &table{parser: shape.New()}
	switch root := root.(type) {
	case jsontext.List:
		t.list(root)
	case jsontext.Object:
		columns, split := root.Get("columns").(jsontext.List)
		data, _ := root.Get("data").(jsontext.List)
		history, ok := root.Get("log_history").(jsontext.List)
		switch {
		case ok:
			t.info.Program = "Hugging Face"
			if steps, ok := root.Get("max_steps").(float64); ok && steps > 0 && steps < 1<<53 {
				t.info.Steps = steps
			}
			t.list(history)
		case split && len(data) > 0:
			t.split(columns.Items(), data.Items())
		case indexed(root):
			t.transposed(root)
		default:
			t.object("", root)
		}
	}
	t.fromColumns()
	t.fromPoints()
	t.parser.Flush(t)
	return t
}

// list takes each object in a list as a row. It reports whether there is one.
func (t *table) list(l jsontext.List) (any bool) {
	for _, item := range l.Items() {
		if item[0] == '{' {
			any = true
			t.parser.Line(oneLine(item), t)
		}
	}
	return any
}

// oneLine is a JSON text without line ends.
func oneLine(text []byte) []byte {
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
	return text
}

// object takes the lists in an object, and in objects in it.
func (t *table) object(prefix string, o jsontext.Object) {
	for _, m := range o {
		switch v := m.Value.(type) {
		case jsontext.List:
			if items := v.Items(); !t.list(v) && slices.ContainsFunc(items, isNumber) {
				t.columns = append(t.columns, column{prefix + m.Key, items})
			}
		case jsontext.Object:
			values, isSeries := v.Get("values").(jsontext.List)
			steps, hasSteps := v.Get("steps").(jsontext.List)
			switch {
			case isSeries && hasSteps:
				times, _ := v.Get("timestamps").(jsontext.List)
				t.series(prefix+m.Key, values.Items(), steps.Items(), times)
			case indexed(v):
				t.columns = append(t.columns, column{prefix + m.Key, numbersOf(v)})
			case prefix == "" && isConfig(m.Key):
				t.info.Config = make(map[string]any)
				v.Flatten("", t.info.Config)
			case prefix == "" && (m.Key == "history" || m.Key == "metrics"):
				t.object("", v)
			default:
				t.object(prefix+m.Key+"/", v)
			}
		}
	}
}

func isConfig(key string) bool {
	switch key {
	case "config", "hparams", "hyperparameters", "args", "params":
		return true
	}
	return false
}

// indexed reports whether the keys of an object are 0, 1, 2, as pandas writes a column.
func indexed(o jsontext.Object) bool {
	for i, m := range o {
		if m.Key != strconv.Itoa(i) {
			return false
		}
	}
	return len(o) > 0
}

func numbersOf(o jsontext.Object) (items [][]byte) {
	for _, m := range o {
		text := []byte("null")
		if v, ok := m.Value.(float64); ok {
			text = strconv.AppendFloat(nil, v, 'g', -1, 64)
		}
		items = append(items, text)
	}
	return items
}

// transposed takes rows by their index.
func (t *table) transposed(rows jsontext.Object) {
	for _, row := range rows {
		o, _ := row.Value.(jsontext.Object)
		for k, text := range numbersOf(o) {
			if k == len(t.columns) {
				t.columns = append(t.columns, column{key: o[k].Key})
			}
			t.columns[k].items = append(t.columns[k].items, text)
		}
	}
}

// split takes rows that are lists, of which item i is of column i.
func (t *table) split(columns, rows [][]byte) {
	for k, name := range columns {
		c := column{key: jsontext.Unquote(bytes.Trim(name, `"`))}
		for _, row := range rows {
			if items := jsontext.List(row).Items(); row[0] == '[' && k < len(items) {
				c.items = append(c.items, items[k])
			}
		}
		t.columns = append(t.columns, c)
	}
}

// isNumber reports whether a text is a number, with or without quotes.
func isNumber(text []byte) bool {
	_, ok := logs.ParseNumber(bytes.Trim(text, `"`))
	return ok
}

// series takes one metric's values with the step of each, and the times, which Sacred writes in UTC without saying so.
func (t *table) series(key string, values, steps [][]byte, times jsontext.List) {
	var stamps [][]byte
	if len(times) > 0 {
		stamps = times.Items()
	}
	for i := range min(len(values), len(steps)) {
		p := point{key: key, value: values[i], step: steps[i]}
		if i < len(stamps) {
			p.time = bytes.Trim(stamps[i], `"`)
		}
		t.points = append(t.points, p)
	}
}

// fromPoints gives the points in the order in which they were written.
func (t *table) fromPoints() {
	sort.SliceStable(t.points, func(i, j int) bool { return bytes.Compare(t.points[i].time, t.points[j].time) < 0 })
	for _, p := range t.points {
		t.text = append(strconv.AppendQuote(append(t.text[:0], `{"metric":`...), p.key), `,"value":`...)
		t.text = append(append(append(t.text, p.value...), `,"step":`...), p.step...)
		if len(p.time) > 0 {
			t.text = append(append(append(t.text, `,"timestamp":"`...), p.time...), `Z"`...)
		}
		t.parser.Line(append(t.text, '}'), t)
	}
}

// fromColumns gives rows of lists of numbers.
func (t *table) fromColumns() {
	n, counted := 0, false
	for _, c := range t.columns {
		n = max(n, len(c.items))
		a := logs.AxisOf(c.key)
		counted = counted || a == logs.Steps || a == logs.Epochs
	}
	for i := range n {
		t.text = append(t.text[:0], '{')
		if !counted {
			t.text = append(strconv.AppendInt(append(t.text, `"epoch":`...), int64(i+1), 10), ',')
		}
		for _, c := range t.columns {
			if i < len(c.items) {
				t.text = append(strconv.AppendQuote(t.text, c.key), ':')
				t.text = append(append(t.text, c.items[i]...), ',')
			}
		}
		t.text[len(t.text)-1] = '}'
		t.parser.Line(t.text, t)
	}
}

var _ logs.Sink = (*table)(nil)
