package workplace

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/trainer/config"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/minibatch"
	"newtop/trainer/optim/trust"
	"newtop/trainer/peer"
)

// ModelError says that the program that has the model has failed a run, which can be resumed.
type ModelError struct{ Err error }

func (e *ModelError) Error() string { return e.Err.Error() }
func (e *ModelError) Unwrap() error { return e.Err }

// StartError says why an external model could not begin, and what its program had printed until then.
type StartError struct {
	Err     error
	Printed []string
}

func (e *StartError) Error() string { return e.Err.Error() }
func (e *StartError) Unwrap() error { return e.Err }

// prepareExternal starts, or connects to, the program that has the model.
func prepareExternal(ctx context.Context, c *config.Config) (*objective.Problem, error) {
	printed := make(chan string, maxPrinted)
	var m *peer.Model
	end, err := newEndpoint(ctx, c, printed)
	if err == nil {
		if m, err = peer.NewModel(end); err != nil {
			end.Close()
		}
	}
	if err != nil {
		failed := &StartError{Err: &config.FieldsError{Fields: "{Model}", Err: err}}
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
		External: &ExternalModel{m, printed}, L2: c.L2}
	if c.L2 > 0 && p.Weights() == nil {
		m.Close()
		return nil, &config.ConfigError{Field: "L2", Value: fmt.Sprint(c.L2),
			Expected: "0 with a {Model} whose weights are no matrices"}
	}
	return p, nil
}

// maxPrinted is how many lines of the program wait for the run to hear them; what comes then is lost.
const maxPrinted = 4096

// ExternalModel is a model that another program has.
type ExternalModel struct {
	*peer.Model
	Printed <-chan string // by the program
}

func newEndpoint(ctx context.Context, c *config.Config, printed chan<- string) (peer.Endpoint, error) {
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

// External returns the model that another program has; nil: the network is newtop's.
func (w *Workplace) External() *ExternalModel {
	if w.Problem == nil {
		return nil
	}
	m, _ := w.Problem.External.(*ExternalModel)
	return m
}

// AdaptDefaults adapts the settings to the data, as config.Config's does, and to an external model: a method takes its
// batches where it has these, and all rows at once where it has no losses of some.
func (w *Workplace) AdaptDefaults(settings *optim.Settings, set func(key string) bool) {
	w.Config.AdaptDefaults(settings, w.Problem.Data, set)
	m, size := w.External(), minibatch.Size
	if m == nil || !size.In(settings) || set(size.Key) || w.Config.Batch > 0 {
		return
	}
	rows := 0
	if m.OffersBatches() == nil {
		if m.Batches() == nil {
			return
		}
		rows = m.Batches()[0]
	}
	if err := settings.Set(size.Key, float64(rows)); err != nil {
		panic("workplace: " + err.Error())
	}
}

// checkExternal returns an error if an external model can't be trained by a method with such settings.
func (w *Workplace) checkExternal(info *optim.Info, settings *optim.Settings) error {
	m := w.External()
	switch {
	case m == nil:
		return nil
	case info.Needs&optim.NeedsRows != 0 && minibatch.Size.In(settings) && minibatch.Size.Of(settings) > 0:
		if err := m.OffersBatches(); err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
		if of := m.Batches(); of != nil && minibatch.Size.Of(settings) < of[0] {
			return &config.ConfigError{Field: info.Name + " with batch", Value: fmt.Sprint(minibatch.Size.Of(settings)),
				Expected: fmt.Sprintf("{Set} batch ≥ %d, the rows of a batch of {Model}'s loader", of[0])}
		}
	case trust.Blocks.In(settings) && trust.Blocks.Of(settings) > 1:
		most := len(m.Batches())
		if m.OffersParts() != nil {
			most = 1
		} else if most == 0 {
			most = m.About().Rows
		}
		if n := trust.Blocks.Of(settings); n > most {
			return &config.ConfigError{Field: info.Name + " with blocks", Value: fmt.Sprint(n),
				Expected: fmt.Sprintf("{Set} blocks ≤ %d with {Model}, whose rows can't be split further", most)}
		}
	case info.Diagonal != nil && info.Diagonal(settings):
		if err := m.OffersDiagonal(); err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return nil
}
