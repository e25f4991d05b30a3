package trainer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"newtop/datasets"
	"newtop/internal/version"
	"newtop/models/modelfile"
	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/trainer/objective"
)

// The weights leave a run by Save, and at its end by Config.Save. The session's goroutine copies them and starts a
// goroutine for each file, which writes it and comes back with a wrote through the session's requests like a viewer;
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
	if wrong, ok := errors.AsType[*fs.PathError](cause); ok {
		cause = wrong.Err
	}
	text := fmt.Sprintf("%s was not saved: %v", e.File, cause)
	if e.Run != nil {
		text = e.Run.Error() + "; " + text
	}
	return text
}

// Unwrap returns Err and Run.
func (e *SaveError) Unwrap() []error { return []error{e.Err, e.Run} }

// wrote says that a file has been written, or could not be.
type wrote struct {
	event.Command
	event  event.SavedEvent
	err    error
	answer chan error // of the one who asked
}

// ending is what a session keeps of its run for those who save it later.
type ending struct {
	model *modelfile.Model
	epoch int
}

// saver writes the weights of a run that goes on.
type saver struct {
	session *Session
	nets    *trajectory
	out     *publisher
	pending int // files that are being written
}

// check makes sure, before anything is trained, that there will be a file.
func (s *saver) check() error {
	file := s.session.config.Save
	if file == "" {
		return nil
	}
	if err := modelfile.Writable(file); err != nil {
		return &PrepareError{Err: &fieldsError{"{Save}", err}}
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
	from := &ending{s.nets.model(s.session.id), s.nets.epoch}
	if over {
		from = s.nets.ending(s.session.id)
	}
	m := from.model
	for i, w := range m.Weights {
		m.Weights[i] = slices.Clone(w)
	}
	e := event.SavedEvent{Epoch: from.epoch, File: file, Format: format}
	s.pending++
	go func() {
		w := wrote{event: e, answer: answer}
		w.err = guard(func() (err error) {
			w.event.Bytes, err = modelfile.Write(file, m)
			return err
		})
		if s.session.ask(context.Background(), request{command: w, answer: make(chan error, 1)}) != nil {
			answer <- w.err // the run was cancelled, and did not wait for this
		}
	}()
}

// saved tells of a file that was written.
func (s *saver) saved(w wrote) {
	s.pending--
	if w.err != nil {
		w.answer <- &event.CommandError{Reason: w.err.Error()}
		return
	}
	s.out.publish(w.event)
	w.answer <- nil
}

// finish writes the file that the configuration asks for, and leaves the weights to the session. It returns how the
// run, which ended by err, ended.
func (s *saver) finish(err error) error {
	s.session.final = s.nets.ending(s.session.id)
	file := s.session.config.Save
	if file == "" {
		return err
	}
	e, failed := s.session.final.write(file)
	if failed == nil {
		s.out.publish(e)
		return err
	}
	if errors.Is(err, context.Canceled) {
		err = nil // that a file is missing must be said louder
	}
	return &SaveError{File: file, Err: failed, Run: err}
}

// await waits for the files that are being written, for recordGrace at most once the run is cancelled.
func (s *saver) await() {
	cancelled := s.out.ctx.Done()
	var late <-chan time.Time
	for s.pending > 0 {
		select {
		case q := <-s.session.requests:
			switch c := q.command.(type) {
			case wrote:
				s.saved(c)
			case event.Save:
				s.save(c.File, true, q.answer)
			default:
				q.answer <- feed.ErrEnded
			}
		case <-cancelled:
			cancelled, late = nil, time.After(recordGrace)
		case <-late:
			return
		}
	}
}

// saveLate writes the weights of a run that has ended, on the goroutine that asks for it. Recorders have had their last
// event.
func (s *Session) saveLate(file string) error {
	if s.final == nil {
		return feed.ErrEnded
	}
	e, err := s.final.write(file)
	if err != nil {
		return &event.CommandError{Reason: err.Error()}
	}
	s.broadcaster.Append(e)
	return nil
}

func (f *ending) write(file string) (e event.SavedEvent, err error) {
	e = event.SavedEvent{Epoch: f.epoch, File: file}
	if e.Format, err = modelfile.Format(file); err != nil {
		return e, err
	}
	err = guard(func() error {
		e.Bytes, err = modelfile.Write(file, f.model)
		return err
	})
	return e, err
}

// Export writes the weights of a checkpoint to a file, as Config.Save does: those that the run would end with there.
// The configuration is the one that the run began with; run is the run's first event, for the file's metadata, and may
// be nil. Export loads the data, for names and scalings, and returns a *CheckpointError if they are not those of the
// checkpoint.
func Export(c Config, from *Checkpoint, run *event.RunEvent, file string) (event.SavedEvent, error) {
	e := &ending{epoch: from.Epoch}
	if err := modelfile.Writable(file); err != nil {
		return event.SavedEvent{}, err
	}
	if c.Model != "" {
		return e.ofElsewhere(&c, from, run, file)
	}
	e, _, err := restore(c, from, run)
	if err != nil {
		return event.SavedEvent{}, err
	}
	return e.write(file)
}

// Restore returns the model of a checkpoint as Export writes it, and the data that it was trained on, with all their
// rows as they are loaded. It is for networks of newtop's own.
func Restore(c Config, from *Checkpoint, run *event.RunEvent) (*modelfile.Model, func() (*datasets.Dataset, error),
	error) {
	if c.Model != "" {
		return nil, nil, &CheckpointError{Reason: "of a model that another program has: expected a network of newtop's"}
	}
	e, load, err := restore(c, from, run)
	if err != nil {
		return nil, nil, err
	}
	return e.model, load, nil
}

func restore(c Config, from *Checkpoint, run *event.RunEvent) (*ending, func() (*datasets.Dataset, error), error) {
	c.TargetError = 0 // which the model does not depend on
	p, err := Prepare(&c)
	if err != nil {
		return nil, nil, err
	}
	if err := agree(context.Background(), p, from.Fingerprint, objective.TakeFingerprint(p)); err != nil {
		return nil, nil, err
	}
	weights, metrics, err := endOf(from, &c, p.Dim())
	if err != nil {
		return nil, nil, err
	}
	meta, err := aboutCheckpoint(&c, from, metrics, run)
	if err != nil {
		return nil, nil, err
	}
	return &ending{describe(p, weights, meta), metrics.Epoch}, func() (*datasets.Dataset, error) { return loadData(&c) },
		nil
}

// ofElsewhere writes the weights of a model that another program has, which does not need to be there.
func (f *ending) ofElsewhere(c *Config, from *Checkpoint, run *event.RunEvent, file string) (event.SavedEvent, error) {
	if run == nil {
		return event.SavedEvent{},
			&CheckpointError{Reason: "the names of its tensors are not known: expected the run's first event"}
	}
	weights, err := countedBy(from, run.Model.Parameters, c.Average)
	if err != nil {
		return event.SavedEvent{}, err
	}
	last, err := metricsOf(from, "last")
	if err != nil {
		return event.SavedEvent{}, err
	}
	meta, err := aboutCheckpoint(c, from, last, run)
	if err != nil {
		return event.SavedEvent{}, err
	}
	meta["data"], meta["version"] = run.Data.Name, version.Program()
	f.model = &modelfile.Model{Weights: weights, Meta: meta}
	for _, b := range run.Model.Blocks {
		f.model.Tensors = append(f.model.Tensors, modelfile.Tensor(b))
	}
	return f.write(file)
}

// aboutCheckpoint says of weights in a checkpoint, which have such metrics, where they come from; run may be nil.
func aboutCheckpoint(c *Config, from *Checkpoint, metrics *event.EpochEvent, run *event.RunEvent) (map[string]string,
	error) {
	optimizer, id := "", ""
	k := from.archive()
	k.Text("optimizer", &optimizer)
	if err := k.Err(); err != nil {
		return nil, &CheckpointError{Reason: err.Error()}
	}
	if run != nil {
		id = run.ID
	}
	return about(c, id, optimizer, metrics.Epoch, metrics), nil
}

// about says of weights where they come from, and how good they were.
func about(c *Config, run, optimizer string, epoch int, metrics *event.EpochEvent) map[string]string {
	meta := map[string]string{
		"optimizer": optimizer, "epoch": strconv.Itoa(epoch), "seed": strconv.FormatUint(c.Seed, 10),
		"time": time.Now().UTC().Format(time.RFC3339),
	}
	for key, text := range map[string]string{"run": run, "test": c.Test} {
		if text != "" {
			meta[key] = text
		}
	}
	quality, of := "test_error", metrics.TestError
	if !of.Finite() {
		quality, of = "test_rmse", metrics.TestRMSE
	}
	for key, v := range map[string]event.Float{"loss": metrics.Loss, quality: of} {
		if v.Finite() {
			meta[key] = strconv.FormatFloat(float64(v), 'g', -1, 64)
		}
	}
	return meta
}

// describe describes weights with what their users need to know of the data.
func describe(p *objective.Problem, weights [][]float64, meta map[string]string) *modelfile.Model {
	data := p.Data
	m := &modelfile.Model{Network: p.Network, Weights: weights, Classes: data.Classes, Meta: meta}
	meta["data"], meta["version"] = data.Name, version.Program()
	if there, ok := p.Elsewhere.(*elsewhere); ok {
		for _, b := range there.About().Blocks {
			m.Tensors = append(m.Tensors, modelfile.Tensor(b))
		}
		return m
	}
	if t := data.Table; t != nil {
		meta["target"], meta["target_column"] = t.Target, strconv.Itoa(t.Place)
		for key, text := range map[string]string{"header": t.Header, "missing": t.Missing, "decimal": t.Decimal,
			"thousands": t.Thousands} {
			if text != "" {
				meta[key] = text
			}
		}
		for _, f := range t.Fields {
			m.Table = append(m.Table, modelfile.Field(f))
		}
	}
	for j, name := range data.InputNames {
		m.Inputs = append(m.Inputs, modelfile.Column{Name: name, Offset: data.InputScaling.Offset[j],
			Scale: data.InputScaling.Scale[j]})
	}
	if p.Network.Columns() > p.Network.Inputs() {
		for _, f := range data.Features {
			m.Inputs = append(m.Inputs, modelfile.Column{Name: f.Name, Scale: 1})
		}
	}
	for j, name := range data.TargetNames {
		m.Outputs = append(m.Outputs, modelfile.Column{Name: name, Offset: data.TargetScaling.Offset[j],
			Scale: data.TargetScaling.Scale[j]})
	}
	return m
}
