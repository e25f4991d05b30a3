package trainer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"newtop/datasets"
	"newtop/internal/routine"
	"newtop/models/modelfile"
	"newtop/trainer/checkpoint"
	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/objective"
	"newtop/trainer/publish"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// The weights leave a run by Save, and at its end by Config.Save. The session's goroutine copies them and starts a
// goroutine for each file, which writes it and comes back with a written through the session's requests like a viewer;
// the session publishes the SavedEvent, and then the one who asked gets the answer. Before the run's Done all have
// come back. Once the run has ended its weights stay as they are, and whoever asks for them writes the file itself.

// SaveError says that a run's weights could not be written at its end.
type SaveError struct {
	File string
	Err  error
	Run  error // how the run ended, nil if in order
}

func (e *SaveError) Error() string {
	cause := e.Err
	if pathError, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = pathError.Err
	}
	text := fmt.Sprintf("%s was not saved: %v", e.File, cause)
	if e.Run != nil {
		text = e.Run.Error() + "; " + text
	}
	return text
}

// Unwrap returns Err and Run.
func (e *SaveError) Unwrap() []error { return []error{e.Err, e.Run} }

// written says that a file has been written, or could not be.
type written struct {
	event.Command
	event  event.SavedEvent
	err    error
	answer chan error // of the one who asked
}

// saver writes the weights of a run that continues.
type saver struct {
	session *Session
	nets    *trajectory.Trajectory
	out     *publish.Publisher
	pending int // files that are being written
}

// check makes sure, before anything is trained, that there will be a file.
func (s *saver) check() error {
	file := s.session.config.Save
	if file == "" {
		return nil
	}
	if err := modelfile.Writable(file); err != nil {
		return &PrepareError{Err: &config.FieldsError{Fields: "{Save}", Err: err}}
	}
	return nil
}

// save writes the current weights to a file, or those that the run ends with where it is over, and answers when it is
// there.
func (s *saver) save(file string, over bool, answer chan error) {
	format, err := modelfile.Format(file)
	if err != nil {
		answer <- &event.CommandError{Reason: err.Error()}
		return
	}
	from := &trajectory.Result{Model: s.nets.Model(s.session.id), Epoch: s.nets.Epoch}
	if over {
		from = s.nets.Result(s.session.id)
	}
	m := from.Model
	for i, w := range m.Weights {
		m.Weights[i] = slices.Clone(w)
	}
	e := event.SavedEvent{Epoch: from.Epoch, File: file, Format: format}
	s.pending++
	routine.Go(func() {
		w := written{event: e, answer: answer}
		w.err = checkpoint.GuardPanics(func() (err error) {
			w.event.Bytes, err = modelfile.Write(file, m)
			return err
		})
		if s.session.send(context.Background(), request{command: w, answer: make(chan error, 1)}) != nil {
			answer <- w.err // the run was cancelled, and did not wait for this
		}
	})
}

// saved publishes that a file was written.
func (s *saver) saved(w written) {
	s.pending--
	if w.err != nil {
		w.answer <- &event.CommandError{Reason: w.err.Error()}
		return
	}
	s.out.Publish(w.event)
	w.answer <- nil
}

// finish writes the file that the configuration asks for, and leaves the weights to the session. It returns how the
// run, which ended by err, ended.
func (s *saver) finish(err error) error {
	s.session.result = s.nets.Result(s.session.id)
	file := s.session.config.Save
	if file == "" {
		return err
	}
	e, failed := s.session.result.Write(file)
	if failed == nil {
		s.out.Publish(e)
		return err
	}
	if errors.Is(err, context.Canceled) {
		err = nil // that a file is missing must be said louder
	}
	return &SaveError{File: file, Err: failed, Run: err}
}

// await waits for the files that are being written, for RecordGrace at most once the run is cancelled.
func (s *saver) await() {
	cancelled := s.out.Ctx.Done()
	var late <-chan time.Time
	for s.pending > 0 {
		select {
		case q := <-s.session.requests:
			switch c := q.command.(type) {
			case written:
				s.saved(c)
			case event.Save:
				s.save(c.File, true, q.answer)
			default:
				q.answer <- feed.ErrEnded
			}
		case <-cancelled:
			cancelled, late = nil, time.After(checkpoint.RecordGrace)
		case <-late:
			return
		}
	}
}

// saveLate writes the weights of a run that has ended, on the goroutine that asks for it. Recorders have had their last
// event.
func (s *Session) saveLate(file string) error {
	if s.result == nil {
		return feed.ErrEnded
	}
	e, err := s.result.Write(file)
	if err != nil {
		return &event.CommandError{Reason: err.Error()}
	}
	s.broadcaster.Append(e)
	return nil
}

// Export writes the weights of a checkpoint to a file, as Config.Save does: those that the run would end with there.
// The configuration is the one that the run began with; run is the run's first event, for the file's metadata, and may
// be nil. Export loads the data, for names and scalings, and returns a *CheckpointError if they are not those of the
// checkpoint.
func Export(c config.Config, from *checkpoint.Checkpoint, run *event.RunEvent, file string) (event.SavedEvent, error) {
	e := &trajectory.Result{Epoch: from.Epoch}
	if err := modelfile.Writable(file); err != nil {
		return event.SavedEvent{}, err
	}
	if c.Model != "" {
		return e.WriteExternal(&c, from, run, file)
	}
	e, _, err := restore(c, from, run)
	if err != nil {
		return event.SavedEvent{}, err
	}
	return e.Write(file)
}

// Restore returns the model of a checkpoint as Export writes it, and the data that it was trained on, with all their
// rows as they are loaded. It is for networks of newtop's own.
func Restore(c config.Config, from *checkpoint.Checkpoint, run *event.RunEvent) (*modelfile.Model,
	func() (*datasets.Dataset, error),
	error) {
	if c.Model != "" {
		return nil, nil,
			&checkpoint.CheckpointError{Reason: "of a model that another program has: expected a network of newtop's"}
	}
	e, load, err := restore(c, from, run)
	if err != nil {
		return nil, nil, err
	}
	return e.Model, load, nil
}

func restore(c config.Config, from *checkpoint.Checkpoint, run *event.RunEvent) (*trajectory.Result,
	func() (*datasets.Dataset, error), error) {
	c.TargetError = 0 // which the model does not depend on
	p, err := workplace.Prepare(&c)
	if err != nil {
		return nil, nil, err
	}
	if err := checkFingerprint(context.Background(), p, from.Fingerprint, objective.StartFingerprint(p)); err != nil {
		return nil, nil, err
	}
	weights, metrics, err := trajectory.EndOf(from, &c, p.Dim())
	if err != nil {
		return nil, nil, err
	}
	meta, err := trajectory.CheckpointProvenance(&c, from, metrics, run)
	if err != nil {
		return nil, nil, err
	}
	return &trajectory.Result{Model: trajectory.DescribeModel(p, weights, meta), Epoch: metrics.Epoch},
		func() (*datasets.Dataset, error) { return workplace.LoadResolved(&c) },
		nil
}
