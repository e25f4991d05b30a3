package papers

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/objective"
)

// trial is one run for one column of a table.
type trial struct {
	column int
	name   string // in the journal: all that it depends on but the origin, as "C in two blocks, seed 3, UCI letter"
	what   string // for the progress, as "C in two blocks, trial 3 of 10"
	config trainer.Config
	// problem is the one that is trained, if its best weights, and what they misclassify, are wanted; else nil.
	problem *objective.Problem
	ends    bool // whether its first and last points are all that is wanted, which needs no problem
	// share says how much of a trial is done at a point, 0…1, and work is the whole of it, in any unit that is the
	// same for all trials of a reproduction.
	share func(*point) float64
	work  float64
}

// schedule runs trials side by side, each on one core. So their times are those of one core, whatever a method could
// make of several.
type schedule struct {
	threads int // 0: all cores
	journal *Journal
	gauge   gauge
}

// cores returns how many threads there are.
func (s *schedule) cores() int {
	if s.threads == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return s.threads
}

// words says what the times of trials are times of.
func (s *schedule) words() string {
	if n := s.cores(); n > 1 {
		return fmt.Sprintf("trials ran up to %d at a time, each on one core.", n)
	}
	return "trials ran one after another on one core."
}

// run returns the outcomes of the trials in their order. After an error, or the end of the context, those that have
// not come to an end are nil.
func (s *schedule) run(ctx context.Context, trials []trial) ([]*outcome, error) {
	out := make([]*outcome, len(trials))
	order := make([]int, len(trials)) // the longest first, so that none is left over at the end
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(trials[b].work, trials[a].work) })

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once sync.Once
	var failed error
	err := sideBySide(ctx, len(trials), s.cores(), func(k int) {
		i := order[k]
		var err error
		if out[i], err = s.one(ctx, &trials[i], 1); err != nil {
			once.Do(func() { failed = err; cancel(err) })
		}
	})
	return out, cmp.Or(failed, err)
}

// one runs a trial and tells how far it is, unless the journal has it.
func (s *schedule) one(ctx context.Context, t *trial, threads int) (*outcome, error) {
	config, told := t.config, 0.0
	config.Threads = threads
	tell := func(share float64, what string) {
		share = max(told, min(share, 1))
		s.gauge.at(what, t.work*(share-told))
		told = share
	}
	o, foreign, err := recall(ctx, s.journal, t.name, func() (*outcome, error) {
		network := (*models.Network)(nil)
		if t.problem != nil {
			network = t.problem.Network
		}
		o, err := runTrial(ctx, config, network, t.ends, func(p *point) { tell(t.share(p), fmt.Sprintf("%s, epoch %d", t.what, p.epoch)) })
		if err == nil && t.problem != nil {
			o.missed = missedRows(network, [][]float64{o.weights}, &t.problem.Test.Split)
		}
		return o, err
	})
	if err != nil {
		return nil, err
	}
	o.foreign = foreign
	tell(1, t.what+", done")
	return o, nil
}

// at tells what is being done, and that so much more was. Any goroutine may call it.
func (g *gauge) at(what string, work float64) {
	g.mu.Lock()
	g.what = what
	g.mu.Unlock()
	g.add(work)
}
