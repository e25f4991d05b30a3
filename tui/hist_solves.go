package tui

import (
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
)

// keptSolves is how many epochs' inner solves are kept as bars.
const keptSolves = 1024

// Solves are a run's inner solves by epoch.
type Solves struct {
	Bars       []Bar
	Barred     int                         // bars there have been, those dropped included
	Stops      [krylov.Interrupted + 1]int // solves ended for each reason
	Count      int
	Iterations int // of all solves
	Live       event.InnerEvent
	Running    bool // Live belongs to an unfinished solve
}

// take adds the solves of an epoch and returns their bar.
func (s *Solves) take(e *event.EpochEvent) *Bar {
	b := Bar{epoch: e.Epoch}
	for _, in := range e.Inner {
		b.nets, b.blocks = max(b.nets, in.Member+1), max(b.blocks, in.Block+1)
		k := min(in.Stop, krylov.Interrupted)
		b.total += in.Iterations
		b.byStop[k] += in.Iterations
		b.solves[k]++
		s.Stops[k]++
	}
	s.Count += len(e.Inner)
	s.Iterations += b.total
	s.Bars = chart.Newest(append(s.Bars, b), keptSolves)
	s.Barred++
	return &b
}

// Bar is the inner work of one epoch: its iterations by the reason why the solves ended.
type Bar struct {
	epoch  int
	total  int
	byStop [krylov.Interrupted + 1]int
	solves [krylov.Interrupted + 1]int
	nets   int // of a committee that solved
	blocks int // of rows that they went through
}

// stop is the reason that ended most of an epoch's solves.
func (b *Bar) stop() krylov.Stop {
	var most krylov.Stop
	for s, n := range b.solves {
		if n > b.solves[most] || most == 0 && n > 0 {
			most = krylov.Stop(s)
		}
	}
	return most
}
