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
	"newtop/trainer/trajectory"
)

// status describes the run as it is now.
func (l *loop) status() event.Status {
	t := l.nets
	s := event.Status{
		Phase:        l.control.phase,
		Held:         l.control.phase == event.Ended && l.control.holding,
		Limits:       l.limits.list(),
		Epoch:        t.Epoch,
		EpochLimit:   l.work.Config.Epochs,
		Optimizer:    t.Info.Name,
		Unit:         l.unit,
		Units:        l.units,
		Elapsed:      l.clocks.Training.Seconds(),
		Computing:    l.analyst.Computing,
		RewindEpochs: l.history.Epochs,
		Racing:       l.race != nil,
	}
	if t.Objective != nil {
		s.Equivalents = t.Objective.Spent.Equivalents
	}
	if l.session.reporter != nil {
		s.Recording = l.session.reporter.Recording()
	}
	if l.race != nil {
		s.Equivalents += l.race.Objective.Spent.Equivalents
	}
	settings := t.CurrentSettings()
	for i := range settings.Parameters() {
		h := &settings.Parameters()[i]
		s.Settings = append(s.Settings, event.Setting{
			Key:     h.Key,
			Text:    h.Text(settings.Get(h.Key)),
			Meaning: h.Meaning,
			Range:   h.Range(),
			Primary: h.Key == t.Info.Primary,
		})
	}
	return s
}

// finish publishes the run's last event.
func (l *loop) finish(err error) {
	last, best := l.nets.EndMetrics(), &l.nets.Best
	done := event.DoneEvent{
		Reason:        l.endReason,
		Epochs:        l.nets.Epoch,
		Loss:          last.Loss,
		Error:         last.Error,
		TestError:     last.TestError,
		TestRMSE:      last.TestRMSE,
		BestTestError: best.TestError,
		BestTestRMSE:  best.TestRMSE,
		BestEpoch:     best.Epoch,
		Elapsed:       event.Float(l.clocks.Training.Seconds()),
		Message:       l.endText,

		ValidationLoss: best.ValidationLoss, ValidationError: best.ValidationError, ValidationRMSE: best.ValidationRMSE,
	}
	if l.nets.BestWeights != nil {
		done.Weights = event.WeightsBest
	}
	var apart *trajectory.DivergedError
	switch {
	case errors.As(err, &apart):
		done.Reason, done.Message = event.ReasonDiverged, l.session.errorText(err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, syscall.EPIPE):
		done.Reason = event.ReasonStopped
	case err != nil:
		done.Reason, done.Message = event.ReasonFailed, l.session.errorText(err)
	}
	if l.announced && err == nil {
		done.Scores = l.analyst.Scores()
	}
	l.control.phase = event.Ended
	if l.session.resumed && !l.announced { // in the record the run ends where it had come to
		l.session.broadcaster.Publish(done, l.status())
		return
	}
	l.out.Publish(done)
}

// opening describes a session's run, which gets its name now if it has none.
func opening(s *Session, t *trajectory.Trajectory) event.RunEvent {
	work := t.Work
	c, data := work.Config, work.Problem.Data
	if s.id == "" {
		now := time.Now()
		s.id, s.startTime = NewID(now), now.UTC().Truncate(time.Millisecond)
	}
	e := event.RunEvent{
		Version: 1,
		ID:      s.id,
		Time:    s.startTime,
		Data: event.DataInfo{
			Name:           data.Name,
			TrainRows:      data.Train.Rows(),
			ValidationRows: work.ValidationRows(),
			TestRows:       data.Test.Rows(),
			Inputs:         data.Inputs(),
			Outputs:        data.Outputs(),
			Classes:        len(data.Classes),
			Notes:          data.Notes,
		},
		Optimizer: t.Info.Name,
		Settings:  map[string]any{},
		Seed:      c.Seed,
		Threads:   work.Pool.Threads(),
		Kernel:    kernel.Selected().String(),
		Digits:    event.Digits,
		Batch:     c.Batch,
		Epochs:    c.Epochs,
	}
	_, same := data.TargetUnit()
	e.Data.Standardized = !same
	if m := work.External(); m != nil {
		describeExternal(&e, m)
	} else {
		e.Model = modelInfo(work.Problem.Network, c.Experts)
	}
	if text, err := json.Marshal(t.Settings); err == nil {
		_ = json.Unmarshal(text, &e.Settings) // what Marshal wrote
	}
	if n := work.Problem.Network; n != nil && n.Precision() != models.Double {
		e.Precision = n.Precision().String()
	}
	if len(t.Members) > 1 {
		e.Committee = len(t.Members)
	}
	if work.Team != nil {
		e.Ranks = work.Team.Size()
		work.Team.Describe(&e)
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
