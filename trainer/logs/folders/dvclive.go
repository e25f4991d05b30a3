package folders

import (
	"context"
	"math"
	"slices"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/shape"
)

// dvclive is what DVCLive writes: dvclive/plots/metrics/NAME.tsv, a table of steps and values each, and params.yaml.
var dvclive = Kind{
	Name: "dvclive", program: "DVCLive",
	all:     []string{"plots"},
	is:      func(dir files.Path) bool { return dir.Join("plots", "metrics").IsDir() },
	written: []string{"metrics.json", "plots/metrics"},
	parts: func(dir files.Path) []part {
		return []part{
			&facts{path: dir.Join("params.yaml"), parse: params},
			&metrics{dir: dir.Join("plots", "metrics"), byKey: make(map[string]*metric)},
		}
	},
}

// params reads lines of key: value; what is nested is left out.
func params(text []byte) (fact, error) {
	config := make(map[string]any)
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		value = strings.TrimSpace(value)
		if ok && key != "" && value != "" && !strings.ContainsAny(key[:1], " \t-#'\"{[") &&
			!strings.ContainsAny(value[:1], "{[&*|>!#") {
			config[logs.Clean(key)] = scalar(value)
		}
	}
	return fact{info: logs.Info{Config: config}}, nil
}

// metrics merges the files of a directory by their steps.
type metrics struct {
	dir   files.Path
	byKey map[string]*metric
	order []*metric // by key
	dirs  []files.Path
	row   logs.Row
}

// metric is a file. It is the sink of its own parser.
type metric struct {
	lines
	key    string
	points []point // what was read and not given yet
	more   bool    // whether the file has more
}

type point struct{ step, wall, v float64 }

func (m *metric) Row(r *logs.Row) {
	step := r.Step
	if math.IsNaN(step) {
		step = math.Inf(-1) // told at once
	}
	m.points = append(m.points, point{step, r.Wall, r.Values[len(r.Values)-1].V})
}
func (m *metric) Info(logs.Info)         {}
func (m *metric) Line(string)            {}
func (m *metric) End(logs.State, string) {}

// batch is how many rows a call of read gives at most.
const batch = 4096

func (m *metrics) Read(ctx context.Context, to logs.Sink) (bool, error) {
	m.scan()
	for _, f := range m.order {
		f.more = true
	}
	for range batch {
		for _, f := range m.order {
			for len(f.points) == 0 && f.more {
				var err error
				if f.more, err = f.lines.Read(ctx, f); err != nil {
					return false, err
				}
			}
		}
		if !m.give(to) {
			return false, nil
		}
	}
	return true, nil
}

// scan finds files that are new.
func (m *metrics) scan() {
	m.dirs = append(m.dirs[:0], m.dir)
	for path, d := range m.dir.Below(nil) {
		if d.IsDir() {
			m.dirs = append(m.dirs, m.dir.Join(path))
			continue
		}
		if key, ok := strings.CutSuffix(path, ".tsv"); ok && m.byKey[key] == nil {
			f := &metric{lines: lines{path: m.dir.Join(path), parser: shape.New()}, key: logs.Clean(key)}
			m.byKey[key] = f
			m.order = append(m.order, f)
			slices.SortFunc(m.order, func(a, b *metric) int { return strings.Compare(a.key, b.key) })
		}
	}
}

// give gives the lowest step of what was read.
func (m *metrics) give(to logs.Sink) bool {
	lowest, any := 0.0, false
	for _, f := range m.order {
		if len(f.points) > 0 && (!any || f.points[0].step < lowest) {
			lowest, any = f.points[0].step, true
		}
	}
	if !any {
		return false
	}
	m.row.Clear()
	for _, f := range m.order {
		if len(f.points) == 0 || f.points[0].step != lowest {
			continue
		}
		p := f.points[0]
		f.points = f.points[1:]
		m.row.Add(f.key, p.v)
		if lowest >= 0 {
			m.row.Step = lowest
		}
		if !math.IsNaN(p.wall) {
			m.row.Wall = p.wall
		}
	}
	to.Row(&m.row)
	return true
}

// Watch lists the directories in which files may come.
func (m *metrics) Watch() []files.Path { return m.dirs }

func (m *metrics) Warning() string {
	for _, f := range m.order {
		if w := f.Warning(); w != "" {
			return w
		}
	}
	return ""
}
