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
)

// trial is one run for one column of a table.
type trial struct {
	column int
	what   string // for the progress, as "C in two blocks, trial 3 of 10"
	config trainer.Config
	keep   *models.Network // the network that is trained, if its best weights are wanted; else nil
	// share says how much of a trial is done at a point, 0…1, and work is the whole of it, in any unit that is the
	// same for all trials of a reproduction.
	share func(*point) float64
	work  float64
}

// schedule runs trials side by side: each has one core, as long as there are enough of them to keep all cores busy. So
// their times are those of one core, whatever a method could make of several.
type schedule struct {
	threads int // 0: all cores
	gauge   gauge
}

// sides returns how many of so many trials run at a time, and how many threads each has.
func (s *schedule) sides(trials int) (beside, each int) {
	threads := s.threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	beside = max(1, min(threads, trials))
	return beside, threads / beside
}

// words says of so many trials what their times are times of.
func (s *schedule) words(trials int) string {
	switch beside, each := s.sides(trials); {
	case beside == 1 && each == 1:
		return "trials ran one after another on one core."
	case beside == 1:
		return fmt.Sprintf("trials ran one after another, each on %d cores.", each)
	case each == 1:
		return fmt.Sprintf("trials ran %d at a time, each on one core.", beside)
	default:
		return fmt.Sprintf("trials ran %d at a time, each on %d cores.", beside, each)
	}
}

// run returns the outcomes of the trials in their order. After an error, or the end of the context, those that have
// not come to an end are nil.
func (s *schedule) run(ctx context.Context, trials []trial) ([]*outcome, error) {
	out := make([]*outcome, len(trials))
	beside, each := s.sides(len(trials))
	order := make([]int, len(trials)) // the longest first, so that none is left over at the end
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(trials[b].work, trials[a].work) })

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var once sync.Once
	var failed error
	err := sideBySide(ctx, len(trials), beside, func(k int) {
		i := order[k]
		var err error
		if out[i], err = s.one(ctx, &trials[i], each); err != nil {
			once.Do(func() { failed = err; cancel(err) })
		}
	})
	return out, cmp.Or(failed, err)
}

// one runs a trial and tells how far it is.
func (s *schedule) one(ctx context.Context, t *trial, threads int) (*outcome, error) {
	config, told := t.config, 0.0
	config.Threads = threads
	tell := func(share float64, what string) {
		share = max(told, min(share, 1))
		s.gauge.at(what, t.work*(share-told))
		told = share
	}
	o, err := runTrial(ctx, config, t.keep, func(p *point) { tell(t.share(p), fmt.Sprintf("%s, epoch %d", t.what, p.epoch)) })
	if err == nil {
		tell(1, t.what+", done")
	}
	return o, err
}

// at tells what is being done, and that so much more was. Any goroutine may call it.
func (g *gauge) at(what string, work float64) {
	g.mu.Lock()
	g.what = what
	g.mu.Unlock()
	g.add(work)
}
