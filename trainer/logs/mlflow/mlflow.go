// Package mlflow reads the runs of MLflow: those of its SQLite database, mlflow.db, and those of its older store of
// files, mlruns.
package mlflow

import (
	"fmt"
	"maps"
	"math"
	"time"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
	"newtop/trainer/logs/internal/points"
	"newtop/trainer/logs/internal/sqlitelog"
)

// states are what MLflow calls the end of a run.
var states = map[string]logs.State{"FINISHED": logs.Finished, "FAILED": logs.Failed, "KILLED": logs.Stopped}

// story is what a reader has told of a run, apart from its metrics.
type story struct {
	reported bool
	run      logs.Run
	ended    bool
	info     logs.Info
}

// report reports what is new of the run and its parameters. It returns ErrRestart for a run that had ended, and
// continues.
func (s *story) report(to logs.Sink, run logs.Run, params map[string]string) error {
	if s.ended && states[run.Status] == logs.Unknown {
		return logs.ErrRestart
	}
	config := make(map[string]any, len(params))
	for key, text := range params {
		config[key] = logs.Setting(text)
	}
	if !s.reported || run.Name != s.run.Name || !maps.Equal(config, s.info.Config) {
		s.info = logs.Info{Name: run.Name, Began: run.Began, Config: config, Program: "MLflow"}
		to.Info(s.info)
	}
	s.reported, s.run = true, run
	return nil
}

// end tells that the run has ended, once. All of its metrics must have been given.
func (s *story) end(to logs.Sink) {
	state := states[s.run.Status]
	if s.ended || state == logs.Unknown {
		return
	}
	s.ended = true
	message := ""
	if state != logs.Finished {
		message = s.run.Status
	}
	to.End(state, message)
}

// giver gives the points of a run in order, and what is known of it.
type giver struct {
	points.Batch
	story
	giving bool // some are not given yet
	whole  bool // all that there was has been read once
}

// collected gives what was collected, once that is all or enough, and reports whether there is more.
func (g *giver) collected(more bool, err error, to logs.Sink) (bool, error) {
	if err != nil || more && g.Len() < points.MaxHeld {
		return more, err
	}
	g.whole = !more
	g.Order()
	return g.give(to), nil
}

// give gives the next rows, and behind the last how the run ended. It reports whether there is more.
func (g *giver) give(to logs.Sink) bool {
	if g.giving = g.Give(to); !g.giving && g.whole {
		g.end(to)
	}
	return g.giving || !g.whole
}

// number returns the value that MLflow's tables say: they keep NaN as 0 with a mark, and infinity as the largest
// number.
func number(v float64, isNaN bool) float64 {
	switch {
	case isNaN:
		return math.NaN()
	case math.Abs(v) >= math.MaxFloat64:
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}

// timeOf returns a time in milliseconds since 1970, zero for 0.
func timeOf(ms int64) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// nameOf returns a name to show: the run's, or the beginning of its ID.
func nameOf(name, id string) string {
	if name != "" {
		return name
	}
	return id[:min(8, len(id))]
}

func absent(path files.Path) string {
	return path.Base() + ": no run of MLflow yet: waiting for one"
}

// choose returns the index of the run that is asked for.
func choose(path files.Path, asked string, runs []logs.Run) (int, error) {
	at, err := sqlitelog.Choose(asked, runs)
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return at, err
}
