package recorder

import (
	"cmp"
	"hash/maphash"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// Watched records what another program says of its run, as a source gives it. Where the source begins again, what comes
// again is passed over, and what differs is recorded behind a way back to the last epoch that they have in common.
type Watched struct {
	store  *store.Store
	about  About
	id     string // the watched run's own
	out    *Recorder
	seed   maphash.Seed
	given  []uint64 // hashes of the events that were recorded
	same   int      // how many of them came again since the source began again
	latest int      // the epoch that was recorded last
	common int      // the last epoch among those that came again
	// the run's beginning until something happened in it, as it may be reported again with more
	opening  *event.RunEvent
	recorded string            // the run's ID in the store
	pending  *event.EpochEvent // the newest epoch, of which more may be reported
	err      error
}

// NewWatched returns a record that begins with the first event.
func NewWatched(s *store.Store, a About) *Watched {
	return &Watched{store: s, about: a, seed: maphash.MakeSeed()}
}

// See records an event.
func (s *Watched) See(e event.Event, _ bool) {
	run, begins := e.(event.RunEvent)
	if _, console := e.(event.ConsoleEvent); console || s.err != nil {
		return
	}
	text, err := event.EncodeEvent(e)
	if err != nil {
		s.err = err
		return
	}
	hash := maphash.Bytes(s.seed, text)
	epoch, isEpoch := e.(event.EpochEvent)
	if s.same < len(s.given) {
		if s.given[s.same] == hash {
			s.same++
			if isEpoch {
				s.common = epoch.Epoch
			}
			return
		}
		s.given = s.given[:s.same]
		if s.common < s.latest && !begins {
			s.record(event.RewindEvent{Epoch: s.latest, To: s.common})
		}
	}
	s.given = append(s.given, hash)
	s.same++
	if isEpoch {
		s.latest, s.common = epoch.Epoch, epoch.Epoch
	}
	switch {
	case begins && s.out != nil && run.ID == s.id: // it says more of itself, which a record says once
		if s.opening != nil {
			run.ID, run.Time = s.opening.ID, s.opening.Time
			s.opening = &run
		}
	case begins:
		s.start(run)
	default:
		s.record(e)
	}
}

// start begins a record, and ends the one before. A run in which nothing happened has none.
func (s *Watched) start(run event.RunEvent) {
	s.opening = nil
	s.Finish()
	s.id = run.ID
	if run.Time.IsZero() {
		run.Time = time.Now().UTC().Truncate(time.Millisecond)
	}
	run.ID = trainer.NewID(time.Now())
	s.recorded = run.ID
	s.out = New(s.store, s.about)
	s.opening = &run
}

// maxPending is how many figures an epoch that is held has at most: it may get many that were told late.
const maxPending = 4096

// record records an event. An epoch is held until the next event, as what is told of it later belongs to it.
func (s *Watched) record(e event.Event) {
	epoch, is := e.(event.EpochEvent)
	if is && s.pending != nil && s.pending.Epoch == epoch.Epoch && len(s.pending.Metrics) < maxPending {
		*s.pending = s.pending.With(&epoch)
		return
	}
	s.release()
	s.open()
	if is {
		s.pending = &epoch
		return
	}
	s.append(e)
}

// open records the run's beginning.
func (s *Watched) open() {
	if s.opening != nil {
		s.append(*s.opening)
		s.opening = nil
	}
}

// release records the epoch that is held.
func (s *Watched) release() {
	if s.pending != nil {
		s.append(*s.pending)
		s.pending = nil
	}
}

func (s *Watched) append(e event.Event) {
	if s.out != nil && s.err == nil {
		s.err = s.out.Record(e)
	}
}

// Finish ends the record, and returns it; nil: nothing was recorded.
func (s *Watched) Finish() (*Recorder, error) {
	s.release()
	s.open()
	if s.out != nil {
		s.err = cmp.Or(s.err, s.out.Flush())
	}
	return s.out, s.err
}

// Recording returns the ID of the run under way and its recorder.
func (s *Watched) Recording() (id string, r *Recorder) {
	return s.recorded, s.out
}

// Restart begins the comparison with what was recorded.
func (s *Watched) Restart() { s.same, s.common = 0, 0 }
