package trainer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/optim/trust"
	"newtop/trainer/peer"
)

// ModelError says that the program that has the model has failed a run, which can be gone on with.
type ModelError struct{ Err error }

func (e *ModelError) Error() string { return e.Err.Error() }
func (e *ModelError) Unwrap() error { return e.Err }

// StartError says why a model elsewhere could not begin, and what its program had printed until then.
type StartError struct {
	Err     error
	Printed []string
}

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// ownFields are those of a Config that are about newtop's own data and networks.
var ownFields = []string{"Data", "DataDir", "Target", "Test", "Validation", "Folds", "Fold", "Hidden", "Graph", "Skip",
	"Experts", "ExpertHidden",
	"Gate", "GateTraining", "Act", "Out", "Loss", "Init", "InputNoise", "LabelSmoothing", "ClassWeights"}

// checkElsewhere returns a *ConfigError for what a model that another program has leaves no room for.
func (c *Config) checkElsewhere() error {
	if c.Model == "" {
		return nil
	}
	for _, name := range ownFields {
		if v := reflect.ValueOf(c).Elem().FieldByName(name); !v.IsZero() {
			return &ConfigError{Field: name, Value: fmt.Sprint(v.Interface()),
				Expected: "none with {Model}, which has data and a network of its own"}
		}
	}
	switch {
	case strings.HasPrefix(c.Model, "umbridge:"):
		return &ConfigError{Field: "Model", Value: c.Model,
			Expected: "a program: UM-Bridge's Python client behind newtop.serve_object (see docs/own-model.md)"}
	case c.Committee > 1:
		return &ConfigError{Field: "Committee", Value: fmt.Sprint(c.Committee), Expected: "one net with {Model}"}
	case c.Precision == models.Single.String():
		return &ConfigError{Field: "Precision", Value: c.Precision,
			Expected: "float64 with {Model}, which computes in a precision of its own"}
	case c.Blocks > 1:
		return &ConfigError{Field: "Blocks", Value: fmt.Sprint(c.Blocks),
			Expected: "1 with {Model}, whose rows can't be split"}
	case strings.HasSuffix(strings.ToLower(c.Save), ".onnx"):
		return &ConfigError{Field: "Save", Value: c.Save,
			Expected: "a file name that ends in .safetensors with {Model}"}
	case c.ModelTimeout < 0:
		return &ConfigError{Field: "ModelTimeout", Value: c.ModelTimeout.String(), Expected: "a duration ≥ 0"}
	}
	return nil
}

// OneAtATime reports whether runs have to wait for one another: for a model behind a socket, which serves one.
func (c *Config) OneAtATime() bool { return strings.HasPrefix(c.Model, peer.SocketPrefix) }

// prepareElsewhere starts, or connects to, the program that has the model.
func prepareElsewhere(ctx context.Context, c *Config) (*objective.Problem, error) {
	printed := make(chan string, mostPrinted)
	var m *peer.Model
	end, err := newEndpoint(ctx, c, printed)
	if err == nil {
		if m, err = peer.NewModel(end); err != nil {
			end.Close()
		}
	}
	if err != nil {
		failed := &StartError{Err: &fieldsError{"{Model}", err}}
		for {
			select {
			case line := <-printed:
				failed.Printed = append(failed.Printed, line)
			default:
				return nil, failed
			}
		}
	}
	about := m.About()
	data := &datasets.Dataset{Name: about.Name, Title: about.Program}
	for i := range about.Classes {
		data.Classes = append(data.Classes, fmt.Sprint(i))
	}
	none := func(rows int) datasets.Split { // which says how many rows there are and nothing else
		var m mat.Dense
		m.SetRawMatrix(blas64.General{Rows: rows})
		return datasets.Split{Inputs: &m, Targets: &m}
	}
	data.Train = none(max(1, about.Rows))
	if about.Can(peer.HasEval) {
		data.Test = none(max(1, about.TestRows))
	} else {
		data.Test = none(0)
	}
	p := &objective.Problem{Data: data, Train: objective.NewSplit(data.Train), Test: objective.NewSplit(data.Test),
		Elsewhere: &elsewhere{m, printed}, L2: c.L2}
	if c.L2 > 0 && p.Weights() == nil {
		m.Close()
		return nil, &ConfigError{Field: "L2", Value: fmt.Sprint(c.L2),
			Expected: "0 with a {Model} whose weights are no matrices"}
	}
	return p, nil
}

// mostPrinted is how many lines of the program wait for the run to hear them; what comes then is lost.
const mostPrinted = 4096

// elsewhere is a model that another program has.
type elsewhere struct {
	*peer.Model
	printed <-chan string // by the program
}

func newEndpoint(ctx context.Context, c *Config, printed chan<- string) (peer.Endpoint, error) {
	seed := int64(c.Seed)
	command := peer.Command{Seed: &seed, Console: func(line string) {
		select {
		case printed <- line:
		default:
		}
	}}
	if c.Threads > 0 {
		command.Env = []string{fmt.Sprintf("OMP_NUM_THREADS=%d", c.Threads)}
	}
	return peer.Open(ctx, c.Model, command, peer.Options{Answer: c.ModelTimeout})
}

// elsewhere returns the model that another program has; nil: the network is newtop's.
func (w *workplace) elsewhere() *elsewhere {
	if w.problem == nil {
		return nil
	}
	m, _ := w.problem.Elsewhere.(*elsewhere)
	return m
}

// suitsElsewhere returns an error if a model elsewhere can't be trained by a method with such settings.
func (w *workplace) suitsElsewhere(info *optim.Info, settings *optim.Settings) error {
	m := w.elsewhere()
	switch {
	case m == nil:
		return nil
	case trust.Blocks.In(settings) && trust.Blocks.Of(settings) > 1:
		return &ConfigError{Field: info.Name + " with blocks", Value: fmt.Sprint(trust.Blocks.Of(settings)),
			Expected: "{Set} blocks=1 with {Model}, whose rows can't be split"}
	case info.Diagonal != nil && info.Diagonal(settings):
		if err := m.OffersDiagonal(); err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return nil
}

// unbroken calls f, and deals with a model elsewhere that broke within it.
func (l *loop) unbroken(f func() error) error {
	err := objective.Unbroken(f)
	failure, broken := errors.AsType[objective.Failure](err)
	if !broken {
		return err
	}
	l.clocks.training.stop()
	l.stepping, l.broken = false, true
	for _, m := range l.nets.members {
		m.stepping = false
	}
	l.analyst.computing, l.race, l.held = "", nil, nil
	return cmp.Or(l.ctx.Err(), error(&ModelError{failure.Err}))
}

// hear publishes what the program of the model has printed.
func (l *loop) hear() {
	m := l.place.elsewhere()
	if m == nil {
		return
	}
	for {
		select {
		case text := <-m.printed:
			l.out.publish(event.ConsoleEvent{Text: text})
		default:
			return
		}
	}
}

// note publishes what people should know of the model.
func (l *loop) note() {
	if m := l.place.elsewhere(); m != nil {
		for _, text := range m.Notes() {
			l.out.publish(event.ConsoleEvent{Text: "newtop: " + text})
		}
	}
}

// tell tells the model of an epoch, if it listens.
func (l *loop) tell(e event.EpochEvent) {
	if m := l.place.elsewhere(); m != nil && m.About().Can(peer.HasEvents) {
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
func (l *loop) hurry() {
	m := l.place.elsewhere()
	if m == nil {
		return
	}
	context.AfterFunc(l.ctx, func() {
		time.AfterFunc(answerGrace, func() { m.Hurry(context.Cause(l.ctx)) })
	})
}

// settle leaves a model elsewhere the weights that the run came to, and what it has to do behind that.
func (l *loop) settle() {
	m := l.place.elsewhere()
	if m == nil {
		return
	}
	if l.opened && !l.broken {
		_ = l.unbroken(func() error { return m.Keep(countedOf(l.nets.members)[0]) })
	}
	l.ended, l.failure = m.Leave()
}

// farewell waits for the end of the program that has the model, for a while only once the run is cancelled, and returns
// how it failed. What it prints meanwhile is heard.
func (l *loop) farewell() (err error) {
	if l.forsake != nil {
		defer l.forsake()
	}
	m := l.place.elsewhere()
	if m == nil {
		return nil
	}
	cancelled := l.ctx.Done()
	slow := time.After(answerGrace)
	var late <-chan time.Time
	for waits := l.ended != nil && !l.broken; waits; {
		select {
		case text := <-m.printed:
			l.out.publish(event.ConsoleEvent{Text: text})
		case <-l.ended:
			waits = false
			err = l.failure()
		case <-slow:
			l.out.publish(event.ConsoleEvent{Text: "newtop: waits for the end of " + m.About().Name +
				", which goes on by itself"})
		case <-cancelled:
			cancelled, late = nil, time.After(programGrace)
		case <-late:
			waits = false
		}
	}
	l.hear()
	m.Close() // whose errors were those of requests
	l.hear()
	return err
}

// describeElsewhere describes a model that another program has, for a run's first event.
func describeElsewhere(e *event.RunEvent, m *elsewhere) {
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
