package history

import (
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/tui/chart"
)

// maxSolves is how many epochs' inner solves are kept as bars.
const maxSolves = 1024

// Solves are a run's inner solves by epoch.
type Solves struct {
	Bars       []Bar // of the latest epochs, one each
	All        []Bar // of all epochs, each of that many of them
	Each       int
	Barred     int                      // bars there have been, those dropped included
	Cuts       int                      // times that the latest were taken away
	Stops      [krylov.Progress + 1]int // solves ended for each reason
	Count      int
	Iterations int // of all solves
	Live       event.InnerEvent
	Running    bool // Live belongs to an unfinished solve
}

// apply adds the solves of an epoch and returns their bar.
func (s *Solves) apply(e *event.EpochEvent) *Bar {
	b := Bar{Epoch: e.Epoch, Last: e.Epoch, Epochs: 1}
	for _, in := range e.Inner {
		b.Nets, b.Blocks = max(b.Nets, in.Member+1), max(b.Blocks, in.Block+1)
		k := min(in.Stop, krylov.Progress)
		b.Total += in.Iterations
		b.ByStop[k] += in.Iterations
		b.Solves[k]++
		s.Stops[k]++
	}
	s.Count += len(e.Inner)
	s.Iterations += b.Total
	s.Bars = chart.KeepLast(append(s.Bars, b), maxSolves)
	s.Barred++
	s.add(b)
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
		if n := len(s.All); n > 0 {
			if s.All[n-1].leave(b); s.All[n-1].Epochs == 0 {
				s.All = s.All[:n-1]
			}
		}
	}
	s.Bars, s.Running = s.Bars[:left], false
	s.Cuts++
}

// add appends a bar to those of all epochs. When they are many neighbours are merged, and each is then of twice as many
// epochs.
func (s *Solves) add(b Bar) {
	s.Each = max(s.Each, 1)
	n := len(s.All)
	if n > 0 && s.All[n-1].Epochs < s.Each {
		s.All[n-1].Join(&b)
		return
	}
	if n == 2*maxSolves {
		for i := range maxSolves {
			s.All[i] = s.All[2*i]
			s.All[i].Join(&s.All[2*i+1])
		}
		s.All = s.All[:maxSolves]
		s.Each *= 2
	}
	s.All = append(s.All, b)
}

// Bar is the inner work of an epoch, or of several: its iterations by the reason why the solves ended.
type Bar struct {
	Epoch  int // the first
	Last   int
	Epochs int // how many
	Total  int
	ByStop [krylov.Progress + 1]int
	Solves [krylov.Progress + 1]int
	Nets   int // of a committee that solved
	Blocks int // of rows that they went through
}

// Join adds the epochs of the bar after it.
func (b *Bar) Join(next *Bar) {
	b.Last, b.Epochs, b.Total = next.Last, b.Epochs+next.Epochs, b.Total+next.Total
	for k := range b.ByStop {
		b.ByStop[k] += next.ByStop[k]
		b.Solves[k] += next.Solves[k]
	}
	b.Nets, b.Blocks = max(b.Nets, next.Nets), max(b.Blocks, next.Blocks)
}

// leave takes the latest epoch out again.
func (b *Bar) leave(latest *Bar) {
	b.Last, b.Epochs, b.Total = latest.Epoch-1, b.Epochs-1, b.Total-latest.Total
	for k := range b.ByStop {
		b.ByStop[k] -= latest.ByStop[k]
		b.Solves[k] -= latest.Solves[k]
	}
}

// Mean is the iterations of an epoch.
func (b *Bar) Mean() float64 { return float64(b.Total) / float64(max(b.Epochs, 1)) }

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
