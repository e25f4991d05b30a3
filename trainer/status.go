package trainer

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"time"

	"newtop/internal/kernel"
	"newtop/models"
	"newtop/trainer/event"
)

// status describes the run as it is now.
func (l *loop) status() event.Status {
	t := l.nets
	s := event.Status{
		Phase:        l.phase,
		Held:         l.phase == event.Ended && l.holding,
		Limits:       l.limits(),
		Epoch:        t.epoch,
		EpochLimit:   l.place.config.Epochs,
		Optimizer:    t.info.Name,
		Unit:         l.unit,
		Units:        l.units,
		Elapsed:      l.clocks.training.seconds(),
		Computing:    l.analyst.computing,
		RewindEpochs: l.history.epochs,
		Racing:       l.race != nil,
	}
	if t.objective != nil {
		s.Equivalents = t.objective.Spent.Equivalents
	}
	if l.session.reporter != nil {
		s.Recording = l.session.reporter.Recording()
	}
	if l.race != nil {
		s.Equivalents += l.race.objective.Spent.Equivalents
	}
	settings := t.chosen()
	for i := range settings.Parameters() {
		h := &settings.Parameters()[i]
		s.Settings = append(s.Settings, event.Setting{
			Key:     h.Key,
			Text:    h.Text(settings.Get(h.Key)),
			Meaning: h.Meaning,
			Range:   h.Range(),
			Primary: h.Key == t.info.Primary,
		})
	}
	return s
}

// finish publishes the run's last event.
func (l *loop) finish(err error) {
	last, best := l.nets.end(), &l.nets.best
	done := event.DoneEvent{
		Reason:        l.end,
		Epochs:        l.nets.epoch,
		Loss:          last.Loss,
		Error:         last.Error,
		TestError:     last.TestError,
		TestRMSE:      last.TestRMSE,
		BestTestError: best.TestError,
		BestTestRMSE:  best.TestRMSE,
		BestEpoch:     best.Epoch,
		Elapsed:       event.Float(l.clocks.training.seconds()),
		Message:       l.why,

		ValidationLoss: best.ValidationLoss, ValidationError: best.ValidationError, ValidationRMSE: best.ValidationRMSE,
	}
	if l.nets.bestWeights != nil {
		done.Weights = event.WeightsBest
	}
	var apart *DivergedError
	switch {
	case errors.As(err, &apart):
		done.Reason, done.Message = event.ReasonDiverged, l.session.text(err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.EPIPE):
		done.Reason = event.ReasonStopped
	case err != nil:
		done.Reason, done.Message = event.ReasonFailed, l.session.text(err)
	}
	if l.opened && err == nil {
		done.Scores = l.analyst.scores()
	}
	l.phase = event.Ended
	if l.session.resumed && !l.opened { // in the record the run ends where it had come to
		l.session.broadcaster.Publish(done, l.status())
		return
	}
	l.out.publish(done)
}

// opening describes a session's run, which gets its name now if it has none.
func opening(s *Session, t *trajectory) event.RunEvent {
	place := t.place
	c, data := place.config, place.problem.Data
	if s.id == "" {
		now := time.Now()
		s.id, s.begun = NewID(now), now.UTC().Truncate(time.Millisecond)
	}
	e := event.RunEvent{
		Version: 1,
		ID:      s.id,
		Time:    s.begun,
		Data: event.DataInfo{
			Name:           data.Name,
			TrainRows:      data.Train.Rows(),
			ValidationRows: place.validationRows(),
			TestRows:       data.Test.Rows(),
			Inputs:         data.Inputs(),
			Outputs:        data.Outputs(),
			Classes:        len(data.Classes),
			Notes:          data.Notes,
		},
		Optimizer: t.info.Name,
		Settings:  map[string]any{},
		Seed:      c.Seed,
		Threads:   place.pool.Threads(),
		Kernel:    kernel.Selected().String(),
		Digits:    event.Digits,
		Batch:     c.Batch,
		Epochs:    c.Epochs,
	}
	_, same := data.TargetUnit()
	e.Data.Standardized = !same
	if m := place.elsewhere(); m != nil {
		describeElsewhere(&e, m)
	} else {
		e.Model = modelInfo(place.problem.Network, c.Experts)
	}
	if text, err := json.Marshal(t.settings); err == nil {
		_ = json.Unmarshal(text, &e.Settings) // what Marshal wrote
	}
	if n := place.problem.Network; n != nil && n.Precision() != models.Double {
		e.Precision = n.Precision().String()
	}
	if len(t.members) > 1 {
		e.Committee = len(t.members)
	}
	if place.team != nil {
		e.Ranks = place.team.Size()
		place.team.Describe(&e)
	}
	return e
}

// modelInfo describes the network, for a run's first event.
func modelInfo(n *models.Network, experts int) event.ModelInfo {
	arch := n.Architecture()
	info := event.ModelInfo{Layers: []int{arch.Inputs}, Loss: arch.Loss.String(), Parameters: n.Dim(), Experts: experts}
	for _, l := range arch.Layers {
		info.Layers = append(info.Layers, l.Nodes)
		info.Activations = append(info.Activations, l.Activation.String())
	}
	for _, b := range n.Blocks() {
		info.Connections = append(info.Connections, event.ConnectionInfo{To: b.To, From: b.From, Weights: b.Size()})
	}
	return info
}
