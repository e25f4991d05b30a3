package trainer

import (
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
)

// Resume returns a session that resumes from a checkpoint to the bits of a run that was never stopped. The
// configuration is the one that the run began with, but for what may differ: Epochs, TimeLimit, TargetLoss,
// TargetError, Until, Patience, Threads, Memory, Save and the spectra's. Viewers see history, the run's events up to
// the checkpoint, which are not recorded again; its RunEvent keeps its ID. A nil checkpoint begins the run from its
// start.
//
// Whether checkpoint and configuration fit together is seen when the data are there: Run returns a *PrepareError that
// wraps a *CheckpointError if they do not, and the recorders see nothing. A run that had reached its limit, and has no
// other one now, ends at once.
func Resume(c config.Config, from *checkpoint.Checkpoint, history []event.Event,
	recorders ...checkpoint.Recorder) (*Session, error) {
	s, err := newSession(c, recorders)
	if err != nil {
		return nil, err
	}
	s.resumed, s.checkpoint = true, from
	past := make([]event.Event, 0, len(history))
	for _, e := range history {
		switch e := e.(type) {
		case event.RunEvent:
			s.id, s.startTime = e.ID, e.Time
		case event.DoneEvent: // this session will have another one
			continue
		}
		past = append(past, e)
	}
	status := event.Status{Optimizer: s.info.Name, EpochLimit: c.Epochs}
	if from != nil {
		status.Epoch = from.Epoch
	}
	s.broadcaster.PublishAll(past, status)
	return s, nil
}
