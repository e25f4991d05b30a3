package trainer

import (
	"context"
	"time"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/peer"
	"newtop/trainer/publish"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// modelLink is what a run has to do with the program that has its model. Where newtop has it, it does nothing.
type modelLink struct {
	work    *workplace.Workplace
	out     *publish.Publisher
	broken  bool            // the program has failed the run
	cancel  func()          // ends what the run asks of it
	ended   <-chan struct{} // closed when the program has ended; nil: there is none
	failure func() error    // how it did so
}

// receivePrinted publishes what the program of the model has printed.
func (k *modelLink) receivePrinted() {
	m := k.work.External()
	if m == nil {
		return
	}
	for {
		select {
		case text := <-m.Printed:
			k.out.Publish(event.ConsoleEvent{Text: text})
		default:
			return
		}
	}
}

// publishNotes publishes what people should know of the model.
func (k *modelLink) publishNotes() {
	if m := k.work.External(); m != nil {
		for _, text := range m.Notes() {
			k.out.Publish(event.ConsoleEvent{Text: "newtop: " + text})
		}
	}
}

// reportEpoch sends the model an epoch, if it listens.
func (k *modelLink) reportEpoch(e event.EpochEvent) {
	if m := k.work.External(); m != nil && m.About().Can(peer.HasEvents) {
		if text, err := event.EncodeEvent(e); err == nil {
			m.SendEvent(text)
		}
	}
}

// How long a run that was cancelled waits for an answer of its model, and then for the program's own end.
const (
	answerGrace  = 2 * time.Second
	programGrace = 10 * time.Second
)

// interrupt has a request of the model be broken some time after the run is cancelled.
func (k *modelLink) interrupt() {
	m := k.work.External()
	if m == nil {
		return
	}
	ctx := k.out.Ctx
	context.AfterFunc(ctx, routine.Guard(func() {
		time.AfterFunc(answerGrace, routine.Guard(func() { m.InterruptRequest(context.Cause(ctx)) }))
	}))
}

// keep leaves the model the weights that the run came to.
func (k *modelLink) keep(nets []*trajectory.Member) error {
	m := k.work.External()
	if m == nil || k.broken {
		return nil
	}
	return m.SetWeights(trajectory.EffectiveWeights(nets)[0])
}

// leave lets the program end what it has to do behind the run.
func (k *modelLink) leave() {
	if m := k.work.External(); m != nil {
		k.ended, k.failure = m.Leave()
	}
}

// close waits for the end of the program that has the model, for a while only once the run is cancelled, and returns
// how it failed. What it prints meanwhile is published.
func (k *modelLink) close() (err error) {
	if k.cancel != nil {
		defer k.cancel()
	}
	m := k.work.External()
	if m == nil {
		return nil
	}
	cancelled := k.out.Ctx.Done()
	slow := time.After(answerGrace)
	var late <-chan time.Time
	for waits := k.ended != nil && !k.broken; waits; {
		select {
		case text := <-m.Printed:
			k.out.Publish(event.ConsoleEvent{Text: text})
		case <-k.ended:
			waits = false
			err = k.failure()
		case <-slow:
			k.out.Publish(event.ConsoleEvent{Text: "newtop: waiting for the end of " + m.About().Name +
				", which continues by itself"})
		case <-cancelled:
			cancelled, late = nil, time.After(programGrace)
		case <-late:
			waits = false
		}
	}
	k.receivePrinted()
	m.Close() // whose errors were those of requests
	k.receivePrinted()
	return err
}

// describeExternal describes a model that another program has, for a run's first event.
func describeExternal(e *event.RunEvent, m *workplace.ExternalModel) {
	about := m.About()
	e.Data.TrainRows, e.Data.TestRows, e.Data.Outputs = about.Rows, about.TestRows, about.Outputs
	e.Model = event.ModelInfo{Loss: about.Loss, Parameters: about.Dim, Program: about.Program}
	if e.Model.Program == "" {
		e.Model.Program = about.Name
	}
	for _, b := range about.Blocks {
		e.Model.Blocks = append(e.Model.Blocks, event.BlockInfo(b))
	}
	for _, info := range methods.All() {
		scaled := info.Diagonal != nil && info.Diagonal(optim.NewSettings(info.Parameters))
		if m.Offers(info.Needs) != nil || scaled && m.OffersDiagonal() != nil {
			e.Model.Missing = append(e.Model.Missing, info.Name)
		}
	}
}

// printPause is how often a run that waits looks for what the program of its model has printed.
const printPause = 200 * time.Millisecond
