package tune

import "context"

// Of the reevaluation.
const (
	defaultFinals = 3
	mostReserve   = 0.3 // of the budget that is kept for it
	patience      = 3   // times the work that its first trial took to the target, after which one is given up
	caution       = 2   // times what its first trial took that is kept for each
	overhead      = 0.3 // seconds of each besides training: data, record
)

// reevaluate measures the best settings again, one at a time alone on the whole machine and with seeds that the search has
// not seen: figures of trials that ran side by side say little about time, and the best of many is best by luck too.
func (s *Search) reevaluate(ctx context.Context) {
	s.phase = phaseFinals
	for i := range max(1, s.config.Seeds) { // every setting once before any twice, as time may run out
		for _, parent := range s.scheduler.finalists() {
			if s.ranking.reevaluated(parent.Setting) > i {
				continue
			}
			if s.late() {
				return
			}
			t := s.add(parent.Choices, s.config.Base.Seed+1+uint64(i))
			t.Final, t.parent, t.Setting = true, parent, parent.Setting
			s.configure(t)
			s.alone(ctx, t)
		}
	}
}

// late reports whether there is no time for another trial.
func (s *Search) late() bool { return s.halted || s.scheduler.late(s.watch.elapsed()) }

// alone runs a trial to its end.
func (s *Search) alone(ctx context.Context, t *trial) {
	s.over = false
	s.resume(ctx, t)
	for s.runner.sessions > 0 {
		s.next(ctx)
		if s.late() {
			s.end(ctx)
		}
	}
}
