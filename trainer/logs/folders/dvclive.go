package folders

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/shape"
)

// dvclive is what DVCLive writes: dvclive/plots/metrics/NAME.tsv, a table of steps and values each, and params.yaml.
var dvclive = layout{
	program: "DVCLive",
	find: func(path string) string {
		for _, dir := range []string{path, filepath.Join(path, "dvclive")} {
			if has(dir, filepath.Join("plots", "metrics")) {
				return dir
			}
		}
		return ""
	},
	parts: func(dir string) []part {
		return []part{
			&facts{path: filepath.Join(dir, "params.yaml"), parse: params},
			&metrics{dir: filepath.Join(dir, "plots", "metrics"), byPath: make(map[string]*metric)},
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
	dir    string
	byPath map[string]*metric
	order  []*metric // by key
	dirs   []string
	row    logs.Row
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

func (m *metrics) read(ctx context.Context, to logs.Sink) (bool, error) {
	m.scan()
	for _, f := range m.order {
		f.more = true
	}
	for range batch {
		for _, f := range m.order {
			for len(f.points) == 0 && f.more {
				var err error
				if f.more, err = f.lines.read(ctx, f); err != nil {
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
	m.dirs = m.dirs[:0]
	_ = filepath.WalkDir(m.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // as a directory that was just removed
		}
		if d.IsDir() {
			m.dirs = append(m.dirs, path)
			return nil
		}
		name, ok := strings.CutSuffix(path, ".tsv")
		if key, err := filepath.Rel(m.dir, name); ok && err == nil && m.byPath[path] == nil {
			f := &metric{lines: lines{path: path, parser: shape.New()}, key: logs.Clean(filepath.ToSlash(key))}
			m.byPath[path] = f
			m.order = append(m.order, f)
			slices.SortFunc(m.order, func(a, b *metric) int { return strings.Compare(a.key, b.key) })
		}
		return nil
	})
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

func (m *metrics) watch() []string { return m.dirs }

func (m *metrics) warning() string {
	for _, f := range m.order {
		if w := f.warning(); w != "" {
			return w
		}
	}
	return ""
}
