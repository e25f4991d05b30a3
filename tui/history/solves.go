package history

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
	Cuts       int                         // times that the newest were taken away
	Stops      [krylov.Interrupted + 1]int // solves ended for each reason
	Count      int
	Iterations int // of all solves
	Live       event.InnerEvent
	Running    bool // Live belongs to an unfinished solve
}

// take adds the solves of an epoch and returns their bar.
func (s *Solves) take(e *event.EpochEvent) *Bar {
	b := Bar{Epoch: e.Epoch}
	for _, in := range e.Inner {
		b.Nets, b.Blocks = max(b.Nets, in.Member+1), max(b.Blocks, in.Block+1)
		k := min(in.Stop, krylov.Interrupted)
		b.Total += in.Iterations
		b.ByStop[k] += in.Iterations
		b.Solves[k]++
		s.Stops[k]++
	}
	s.Count += len(e.Inner)
	s.Iterations += b.Total
	s.Bars = chart.Newest(append(s.Bars, b), keptSolves)
	s.Barred++
	return &b
}

// cut takes away the bars of what came after an epoch.
func (s *Solves) cut(to int) {
	left := len(s.Bars)
	for ; left > 0 && s.Bars[left-1].Epoch > to; left-- {
		b := &s.Bars[left-1]
		for k, n := range b.Solves {
			s.Stops[k] -= n
			s.Count -= n
		}
		s.Iterations -= b.Total
		s.Barred--
	}
	s.Bars, s.Running = s.Bars[:left], false
	s.Cuts++
}

// Bar is the inner work of one epoch: its iterations by the reason why the solves ended.
type Bar struct {
	Epoch  int
	Total  int
	ByStop [krylov.Interrupted + 1]int
	Solves [krylov.Interrupted + 1]int
	Nets   int // of a committee that solved
	Blocks int // of rows that they went through
}

// Stop is the reason that ended most of an epoch's solves.
func (b *Bar) Stop() krylov.Stop {
	var most krylov.Stop
	for s, n := range b.Solves {
		if n > b.Solves[most] || most == 0 && n > 0 {
			most = krylov.Stop(s)
		}
	}
	return most
}
