// Package analyst computes the analyses of a run that its viewers request.
package analyst

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/analysis"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/trainer/publish"
	"newtop/trainer/trajectory"
	"newtop/trainer/workplace"
)

// defaultRows bounds the rows that a spectrum averages over when the Config does not say, so that one costs
// seconds at most. They are the same in every spectrum of a run, evenly spaced over the training rows.
const defaultRows = 2048

// defaultSpectrum is how many eigenvalues are estimated when the Config does not say: by Lanczos at each end,
// by the power method in all.
const defaultSpectrum = 3

// finalRows is how many of the worst rows a run that has ended shows.
const finalRows = 16

// Analyst computes the analyses that viewers ask for. They only read the weights: a run has the same digits with and
// without them. What passes through rows has a linearization of its own, is charged to no optimizer, and takes no
// training time.
type Analyst struct {
	Nets   *trajectory.Trajectory
	Out    *publish.Publisher
	Clocks *trajectory.Clocks
	Poll   func() error // answers the commands that come meanwhile; its error ends the analysis

	Requested         []event.Command // to be computed at the next chance, each of them different
	SpectrumRequested bool            // one was asked for
	Computing         string          // what is being computed; empty: nothing
	sliceRequested    bool            // whether a slice was ever asked for
	Proposed          proposed
	latest            int     // the epoch of the newest spectrum
	lastSeconds       float64 // seconds, for that
	finalOnly         bool    // all that is asked for is what part asked for
	Abandoned         bool    // what is being computed is given up

	allRows   objective.Linearization // over all training rows of allRowsOf; nil before the first slice
	allRowsOf *objective.Problem
	sample    objective.Linearization // over the rows of the spectrum; nil until the first one
	start     [][]float64             // the next spectrum's start vectors
}

// proposed is the last step that a method held against a model, of a mixture with steady gates.
type proposed struct {
	Known      bool
	From, Step []float64 // of all weights
	event      event.SliceEvent
}

// SetProposal keeps the step that a member has just proposed, if its method does that.
func (a *Analyst) SetProposal(m *trajectory.Member, p *optim.Proposal) {
	k := &a.Proposed
	if k.Known = p.Step != nil; !k.Known {
		return
	}
	if k.Step == nil {
		k.From, k.Step = make([]float64, len(m.Weights)), make([]float64, len(m.Weights))
	}
	copy(k.From, m.Previous)
	copy(k.From, p.From)
	clear(k.Step[copy(k.Step, p.Step):])
	k.event = event.SliceEvent{
		Epoch:     a.Nets.Epoch + 1,
		Member:    a.Nets.Turn,
		Optimizer: a.Nets.Info.Name,
		Rho:       event.Float(p.Rho),
		Accepted:  p.Accepted,
	}
}

// Request notes an analysis for the next chance, at which one that was asked for twice is computed once.
func (a *Analyst) Request(c event.Command) error {
	work, info := a.Nets.Work, a.Nets.Info
	a.finalOnly = false
	switch c := c.(type) {
	case event.Spectrum:
		if a.Computing == "spectrum" {
			return event.Refuse("a spectrum is being computed already")
		}
		a.SpectrumRequested = true
		return nil
	case event.Slice:
		if !a.Proposed.Known && info.Proposes {
			return event.Refuse("%s has proposed no step yet: expected an outer iteration to end first", info.Name)
		}
		if !a.Proposed.Known {
			return event.Refuse("%s proposes no step by a model of the loss: expected one of %s", info.Name,
				proposers())
		}
		a.sliceRequested = true
	case event.ShowErrors:
		if work.External() != nil {
			return event.Refuse("the rows are another program's: expected a network of newtop's")
		}
		if !c.Train && work.Test == nil {
			return event.Refuse("there are no test rows: expected the training rows to be asked for")
		}
	}
	if !slices.Contains(a.Requested, c) {
		a.Requested = append(a.Requested, c)
	}
	return nil
}

// proposers names the methods that slices are of.
func proposers() string {
	var names []string
	for _, i := range methods.All() {
		if i.Proposes {
			names = append(names, i.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Analyse computes what was asked for first and publishes it, unless it is interrupted. It returns by what.
func (a *Analyst) Analyse() (interrupted error) {
	c := a.Requested[0]
	a.Requested = slices.Delete(a.Requested, 0, 1)
	a.Clocks.Training.Stop()
	var e event.Event
	switch c := c.(type) {
	case event.ShowErrors:
		a.Computing = "errors"
		e, interrupted = a.errors(c)
	default:
		a.Computing = "slice"
		e, interrupted = a.slice()
	}
	a.Computing = ""
	if interrupted != nil {
		e = nil
	}
	a.Out.Publish(e)
	return interrupted
}

// AnalyseAtEnd shows the viewers of a run that came to its end by itself where the outputs are wrong now, and a slice
// if any was asked for before: afterwards nobody can ask. It returns the context's error.
func (a *Analyst) AnalyseAtEnd() error {
	a.Requested = a.finalErrors()
	if a.sliceRequested && a.Proposed.Known {
		a.Requested = append(a.Requested, event.Slice{})
	}
	for range len(a.Requested) {
		interrupted := a.Analyse()
		if err := a.Out.Ctx.Err(); err != nil || errors.Is(interrupted, optim.ErrInterrupted) {
			return err
		}
	}
	return nil
}

// finalErrors is what every viewer wants to see at the end: where the outputs are wrong, if the rows are here.
func (a *Analyst) finalErrors() []event.Command {
	if a.Nets.Work.External() != nil {
		return nil
	}
	return []event.Command{event.ShowErrors{Train: a.Nets.Work.Test == nil, Worst: finalRows}}
}

// Forget drops what is known of epochs that the run went back from.
func (a *Analyst) Forget() { a.Proposed.Known, a.latest = false, -1 }

// RequestFinal asks for what viewers want to see of a run that has ended and stays: a spectrum if it has some, errors,
// a slice.
func (a *Analyst) RequestFinal() {
	a.finalOnly = true
	c := a.Nets.Work.Config
	a.SpectrumRequested = c.SpectrumEvery > 0 && a.latest != a.Nets.Epoch
	a.Requested = a.finalErrors()
	if a.Proposed.Known {
		a.Requested = append(a.Requested, event.Slice{})
	}
}

// DropFinal forgets what nobody but part has asked for.
func (a *Analyst) DropFinal() {
	if a.finalOnly {
		a.finalOnly, a.SpectrumRequested, a.Requested = false, false, nil
		a.Abandoned = a.Computing != ""
	}
}

// pollAndReport polls in the middle of an analysis, and tells viewers of one that takes longer than an eye would miss.
func (a *Analyst) pollAndReport() error {
	if a.Out.StatusPulse.Expired.Load() {
		a.Out.Publish(nil)
	}
	return a.Poll()
}

// errors gathers where the outputs are wrong, of a committee the mean of all members'.
func (a *Analyst) errors(c event.ShowErrors) (event.ErrorsEvent, error) {
	work := a.Nets.Work
	outputsTo := func(dst, x *mat.Dense) { work.OutputsTo(dst, x, trajectory.EffectiveWeights(a.Nets.Members)) }
	e, err := analysis.Errors(work.Whole(), c, work.Pool.Threads(), outputsTo, a.pollAndReport)
	e.Epoch = a.Nets.Epoch
	return e, err
}

// Scores returns how well the nets that the run ends with do on the rows that were not trained on, or on the training
// rows where there are no others: none where these are another program's, or can't be read, or once the run's context
// is done.
func (a *Analyst) Scores() (list []event.Scores) {
	work, ctx := a.Nets.Work, a.Out.Ctx
	if work.External() != nil {
		return nil
	}
	for _, part := range []datasets.Part{datasets.Validation, datasets.Test, datasets.Train} {
		if part == datasets.Train && list != nil {
			continue
		}
		if s, err := trajectory.Scores(a.Nets, part, a.Nets.EndWeights(), ctx.Err); err == nil && s.Rows > 0 {
			list = append(list, s)
		}
	}
	return list
}

// slice computes a slice of the last proposed step over all training rows. The step of a committee is that of the
// member whose turn was the last; in block mode it is the last block's, from the weights within the sweep, with the ρ
// that it had for its own block; of a mixture whose gates are tuned apart it moves the experts alone. No passes are
// kept, so that it needs no memory that grows with the rows.
func (a *Analyst) slice() (event.SliceEvent, error) {
	work, k := a.Nets.Work, &a.Proposed
	e := k.event
	if p := a.Nets.Members[e.Member].Binding.Problem; a.allRows == nil || a.allRowsOf != p {
		a.allRowsOf = p
		a.allRows = p.Minimized(work.Binder(p).Bind(objective.Rows{}, models.Options{Pool: work.Pool, Memory: 1}))
	}
	a.allRows.Update(k.From)
	err := a.pollAndReport()
	if err == nil {
		err = analysis.Slice(a.allRows, k.From, k.Step, &e, a.pollAndReport)
	}
	return e, err
}

// ShowWeights publishes a block of weights as it is now, of a committee the first member's.
func (a *Analyst) ShowWeights(to, from int) error {
	first := a.Nets.Members[0]
	e, ok := analysis.Weights(a.Nets.Work.Problem, first.Effective(first.Weights), to, from)
	if !ok {
		return event.Refuse("the net has no weights from layer %d to layer %d", from, to)
	}
	e.Epoch = a.Nets.Epoch
	a.Out.Publish(e)
	return nil
}

// AffordsSpectrum reports whether another spectrum fits into the share of time that they may take. The first does: each
// run has one.
func (a *Analyst) AffordsSpectrum() bool {
	c, share := a.Clocks, a.Nets.Work.Config.SpectrumShare
	return share == 0 || a.first() || c.Spectra.Seconds()+a.lastSeconds <= share*c.Training.Seconds()
}

// first reports whether the run has had no spectrum yet.
func (a *Analyst) first() bool { return a.Clocks.Spectra.Elapsed() == 0 }

// stepsOf bounds the Lanczos steps of a run's first spectrum of that many eigenvalues at each end, where spectra may
// take a share of the time only: it takes about as long as what was trained before, or the least that is of use. 0: no
// bound.
func (a *Analyst) stepsOf(count int) int {
	work := a.Nets.Work
	if work.Config.SpectrumShare == 0 || !a.first() {
		return 0
	}
	products := a.Nets.Objective.Spent.Equivalents / 2 // one takes about two gradients
	if n, total := a.SpectrumRows(), a.firstProblem().Train.Rows(); n > 0 {
		products *= float64(total) / float64(n)
	}
	least, most := 6*count, krylov.LanczosSteps(count)
	return int(min(max(products-float64(2*count), float64(least)), float64(most)))
}

// firstProblem is what the first net is trained on, whose spectrum is computed.
func (a *Analyst) firstProblem() *objective.Problem { return a.Nets.Members[0].Binding.Problem }

// SpectrumRows is how many rows a spectrum averages over; 0: all.
func (a *Analyst) SpectrumRows() int {
	work := a.Nets.Work
	n := work.Config.SpectrumRows
	if m := work.External(); m == nil {
		n = cmp.Or(n, defaultRows)
	} else if m.OffersParts() != nil {
		n = 0
	}
	if n < a.firstProblem().Train.Rows() {
		return max(0, n)
	}
	return 0
}

// ComputeSpectrum estimates the eigenvalues that the Config asks for at the current weights, of a committee the
// first member's, and publishes them. The operator acts on all weights, those of gates included. If it is interrupted
// when the eigenvalues are known they are published without their density.
func (a *Analyst) ComputeSpectrum() {
	a.SpectrumRequested = false
	count := cmp.Or(a.Nets.Work.Config.Spectrum, defaultSpectrum)
	steps := a.stepsOf(count)
	a.Clocks.Training.Stop()
	a.Clocks.Spectra.Start()
	begun := a.Clocks.Spectra.Seconds()
	defer func() {
		a.Clocks.Spectra.Stop()
		a.lastSeconds = a.Clocks.Spectra.Seconds() - begun
	}()
	a.Computing = "spectrum"
	a.Out.Publish(nil)
	defer func() {
		a.Computing = ""
		a.Out.Publish(nil)
	}()
	work := a.Nets.Work
	c, p := work.Config, a.firstProblem()
	total := p.Train.Rows()
	if a.sample == nil {
		l := work.Binder(p).Bind(objective.Rows{Count: a.SpectrumRows()},
			models.Options{Pool: work.Pool, Memory: c.Memory, Double: true, Products: true})
		a.sample = p.Minimized(l)
	}
	a.sample.Update(a.Nets.Members[0].Weights)
	e, start := analysis.Spectrum(a.sample, analysis.SpectrumOptions{
		Count:     count,
		Method:    a.spectrumMethod(),
		Operator:  cmp.Or(c.SpectrumOf, analysis.SpectrumOperators[0]),
		Ends:      c.SpectrumEnds,
		Tolerance: c.SpectrumTolerance,
		Steps:     steps,
		Density:   c.Density,
		Seed:      workplace.StreamSpectrum,
		Probes:    a.probeSeed(),
		Start:     a.start,
		Memory:    c.Memory,
		Poll:      a.Poll,
	})
	a.start = start
	if e.Stop == krylov.Interrupted {
		return
	}
	e.Epoch, e.Selection = a.Nets.Epoch, "all"
	a.latest = e.Epoch
	if e.Rows < total {
		e.Selection = "evenly spaced"
	}
	a.Out.Publish(e)
}

// probeSeed is that of a density's probes, which follow from nothing that a checkpoint would have to keep.
func (a *Analyst) probeSeed() uint64 {
	c := a.Nets.Work.Config
	if !c.FreshProbes {
		return workplace.StreamSpectrum
	}
	return rand.New(rand.NewPCG(c.Seed, workplace.StreamProbes+uint64(a.Nets.Epoch)<<8)).Uint64()
}

func (a *Analyst) spectrumMethod() string {
	return cmp.Or(a.Nets.Work.Config.SpectrumMethod, analysis.SpectrumMethods[0])
}

// Archive carries what the next spectrum begins with, if it is by the same method.
func (a *Analyst) Archive(k *optim.Archive) {
	dim := a.Nets.Work.Problem.Dim()
	method, count := a.spectrumMethod(), len(a.start)
	k.Text("method", &method)
	k.Count("vectors", &count, dim+1) // one more than there are where the power method was shifted
	start := a.start
	if k.Restoring() {
		start = nil
	}
	for i := 0; i < count && k.Err() == nil; i++ {
		if k.Restoring() {
			start = append(start, nil)
		}
		k.Vector(fmt.Sprint("vector ", i), &start[i], dim)
	}
	if k.Restoring() && method == a.spectrumMethod() {
		a.start = start
	}
}
