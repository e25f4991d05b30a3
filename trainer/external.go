package trainer

import (
	"cmp"
	"context"
	"errors"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/peer"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// unbroken calls f, and deals with a model elsewhere that broke within it.
func (l *loop) guardModel(f func() error) error {
	err := objective.Unbroken(f)
	failure, broken := errors.AsType[objective.Failure](err)
	if !broken {
		return err
	}
	l.clocks.Training.Stop()
	l.stepping, l.modelBroken = false, true
	for _, m := range l.nets.Members {
		m.Stepping = false
	}
	l.analyst.Computing, l.race, l.heldRace = "", nil, nil
	return cmp.Or(l.ctx.Err(), error(&workplace.ModelError{Err: failure.Err}))
}

// hear publishes what the program of the model has printed.
func (l *loop) receivePrinted() {
	m := l.work.External()
	if m == nil {
		return
	}
	for {
		select {
		case text := <-m.Printed:
			l.out.Publish(event.ConsoleEvent{Text: text})
		default:
			return
		}
	}
}

// note publishes what people should know of the model.
func (l *loop) publishNotes() {
	if m := l.work.External(); m != nil {
		for _, text := range m.Notes() {
			l.out.Publish(event.ConsoleEvent{Text: "newtop: " + text})
		}
	}
}

// tell tells the model of an epoch, if it listens.
func (l *loop) reportEpoch(e event.EpochEvent) {
	if m := l.work.External(); m != nil && m.About().Can(peer.HasEvents) {
		if text, err := event.EncodeEvent(e); err == nil {
			m.Tell(text)
		}
	}
}

// How long a run that was cancelled waits for an answer of its model, and then for the program's own end.
const (
	answerGrace  = 2 * time.Second
	programGrace = 10 * time.Second
)

// hurry has a request of a model elsewhere be broken some time after the run is cancelled.
func (l *loop) interruptModel() {
	m := l.work.External()
	if m == nil {
		return
	}
	context.AfterFunc(l.ctx, func() {
		time.AfterFunc(answerGrace, func() { m.Hurry(context.Cause(l.ctx)) })
	})
}

// settle leaves a model elsewhere the weights that the run came to, and what it has to do behind that.
func (l *loop) leaveModel() {
	m := l.work.External()
	if m == nil {
		return
	}
	if l.announced && !l.modelBroken {
		_ = l.guardModel(func() error { return m.Keep(trajectory.EffectiveWeights(l.nets.Members)[0]) })
	}
	l.modelEnded, l.modelFailure = m.Leave()
}

// farewell waits for the end of the program that has the model, for a while only once the run is cancelled, and returns
// how it failed. What it prints meanwhile is heard.
func (l *loop) closeModel() (err error) {
	if l.cancelModel != nil {
		defer l.cancelModel()
	}
	m := l.work.External()
	if m == nil {
		return nil
	}
	cancelled := l.ctx.Done()
	slow := time.After(answerGrace)
	var late <-chan time.Time
	for waits := l.modelEnded != nil && !l.modelBroken; waits; {
		select {
		case text := <-m.Printed:
			l.out.Publish(event.ConsoleEvent{Text: text})
		case <-l.modelEnded:
			waits = false
			err = l.modelFailure()
		case <-slow:
			l.out.Publish(event.ConsoleEvent{Text: "newtop: waits for the end of " + m.About().Name +
				", which goes on by itself"})
		case <-cancelled:
			cancelled, late = nil, time.After(programGrace)
		case <-late:
			waits = false
		}
	}
	l.receivePrinted()
	m.Close() // whose errors were those of requests
	l.receivePrinted()
	return err
}

// describeElsewhere describes a model that another program has, for a run's first event.
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
			e.Model.Lacks = append(e.Model.Lacks, info.Name)
		}
	}
}

// printPause is how often a run that waits looks for what the program of its model has printed.
const printPause = 200 * time.Millisecond
