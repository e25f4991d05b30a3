package folders

import (
	"context"
	"fmt"
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/internal/points"
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
			&metrics{
				Dir: points.Dir{Top: dir.Join("plots", "metrics"), Suffix: ".tsv", Header: true,
					Columns: []string{"tsv", "sv"}},
				Batch: points.Batch{BySteps: true},
			},
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

// metrics gives the points of a directory of tables.
type metrics struct {
	points.Dir
	points.Batch
	more bool // there are points that were not given
}

func (m *metrics) Read(_ context.Context, to logs.Sink) (bool, error) {
	for more := !m.more; more && m.Len() < points.MaxHeld; {
		var err error
		if more, err = m.Collect(&m.Batch); err != nil {
			return false, err
		}
		m.Order()
	}
	m.more = m.Give(to)
	return m.more, nil
}

// Warning says how many lines can't be read.
func (m *metrics) Warning() string {
	if m.Bad == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %d lines can't be read: expected step, value", m.Top, m.Bad)
}
