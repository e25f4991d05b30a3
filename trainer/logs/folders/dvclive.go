package folders

import (
	"context"
	"fmt"

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
			&facts{path: dir.Join("params.yaml"), parse: func(text []byte) (fact, error) {
				return fact{info: logs.Info{Config: logs.Settings(string(text))}}, nil
			}},
			&metrics{
				Dir: points.Dir{Top: dir.Join("plots", "metrics"), Suffix: ".tsv", Header: true,
					Columns: []string{"tsv", "sv"}},
				Batch: points.Batch{BySteps: true},
			},
		}
	},
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
