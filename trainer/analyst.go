package trainer

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
)

// defaultRows bounds the rows that a spectrum averages over when the Config does not say, so that one costs
// seconds at most. They are the same in every spectrum of a run, evenly spaced over the training rows.
const defaultRows = 2048

// defaultSpectrum is how many eigenvalues are estimated when the Config does not say: by Lanczos at each end,
// by the power method in all.
const defaultSpectrum = 3

// partingRows is how many of the worst rows a run that has ended shows.
const partingRows = 16

// analyst computes the analyses that viewers ask for. They only read the weights: a run has the same digits with and
// without them. What passes through rows has a linearization of its own, is charged to no optimizer, and takes no
// training time.
type analyst struct {
	nets   *trajectory
	out    *publisher
	clocks *clocks
	poll   func() error // answers the commands that come meanwhile; its error ends the analysis

	asked     []event.Command // to be computed at the next chance, each of them different
	spectrum  bool            // one was asked for
	computing string          // what is being computed; empty: nothing
	sliced    bool            // whether a slice was ever asked for
	proposed  proposed
	newest    int     // the epoch of the newest spectrum
	took      float64 // seconds, for that
	parting   bool    // all that is asked for is what part asked for
	left      bool    // what is being computed is given up

	along  objective.Linearization // over all training rows; nil before the first slice
	sample objective.Linearization // over the rows of the spectrum; nil until the first one
	start  [][]float64             // the next spectrum's start vectors
}

// proposed is the last step that a method held against a model, of a mixture with steady gates.
type proposed struct {
	known      bool
	from, step []float64 // of all weights
	event      event.SliceEvent
}

// propose keeps the step that a member has just proposed, if its method does that.
func (a *analyst) propose(m *member, p *optim.Proposal) {
	k := &a.proposed
	if k.known = p.Step != nil; !k.known {
		return
	}
	if k.step == nil {
		k.from, k.step = make([]float64, len(m.weights)), make([]float64, len(m.weights))
	}
	copy(k.from, m.previous)
	copy(k.from, p.From)
	clear(k.step[copy(k.step, p.Step):])
	k.event = event.SliceEvent{
		Epoch:     a.nets.epoch + 1,
		Member:    a.nets.turn,
		Optimizer: a.nets.info.Name,
		Rho:       event.Float(p.Rho),
		Accepted:  p.Accepted,
	}
}

// ask notes an analysis for the next chance, at which one that was asked for twice is computed once.
func (a *analyst) ask(c event.Command) error {
	place, info := a.nets.place, a.nets.info
	a.parting = false
	switch c := c.(type) {
	case event.Spectrum:
		if a.computing == "spectrum" {
			return event.Refuse("a spectrum is being computed already")
		}
		a.spectrum = true
		return nil
	case event.Slice:
		if !a.proposed.known && info.Proposes {
			return event.Refuse("%s has proposed no step yet: expected an outer iteration to end first", info.Name)
		}
		if !a.proposed.known {
			return event.Refuse("%s proposes no step by a model of the loss: expected one of %s", info.Name,
				proposers())
		}
		a.sliced = true
	case event.ShowErrors:
		if place.elsewhere() != nil {
			return event.Refuse("the rows are another program's: expected a network of newtop's")
		}
		if !c.Train && place.test == nil {
			return event.Refuse("there are no test rows: expected the training rows to be asked for")
		}
	}
	if !slices.Contains(a.asked, c) {
		a.asked = append(a.asked, c)
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

// analyse computes what was asked for first and publishes it, unless it is interrupted. It returns by what.
func (a *analyst) analyse() (interrupted error) {
	c := a.asked[0]
	a.asked = slices.Delete(a.asked, 0, 1)
	a.clocks.training.stop()
	var e event.Event
	switch c := c.(type) {
	case event.ShowErrors:
		a.computing = "errors"
		e, interrupted = a.errors(c)
	default:
		a.computing = "slice"
		e, interrupted = a.slice()
	}
	a.computing = ""
	if interrupted != nil {
		e = nil
	}
	a.out.publish(e)
	return interrupted
}

// analyseAtEnd shows the viewers of a run that came to its end by itself where the outputs are wrong now, and a slice
// if any was asked for before: afterwards nobody can ask. It returns the context's error.
func (a *analyst) analyseAtEnd() error {
	a.asked = a.last()
	if a.sliced && a.proposed.known {
		a.asked = append(a.asked, event.Slice{})
	}
	for range len(a.asked) {
		interrupted := a.analyse()
		if err := a.out.ctx.Err(); err != nil || errors.Is(interrupted, optim.ErrInterrupted) {
			return err
		}
	}
	return nil
}

// last is what every viewer wants to see at the end: where the outputs are wrong, if the rows are here.
func (a *analyst) last() []event.Command {
	if a.nets.place.elsewhere() != nil {
		return nil
	}
	return []event.Command{event.ShowErrors{Train: a.nets.place.test == nil, Worst: partingRows}}
}

// part asks for what viewers want to see of a run that has ended and stays: a spectrum if it has some, errors, a slice.
func (a *analyst) part() {
	a.parting = true
	c := a.nets.place.config
	a.spectrum = c.SpectrumEvery > 0 && a.newest != a.nets.epoch
	a.asked = a.last()
	if a.proposed.known {
		a.asked = append(a.asked, event.Slice{})
	}
}

// resume forgets what nobody but part has asked for.
func (a *analyst) resume() {
	if a.parting {
		a.parting, a.spectrum, a.asked = false, false, nil
		a.left = a.computing != ""
	}
}

// pause polls in the middle of an analysis, and tells viewers of one that takes longer than an eye would miss.
func (a *analyst) pause() error {
	if a.out.shown.over.Load() {
		a.out.publish(nil)
	}
	return a.poll()
}

// errors gathers where the outputs are wrong, of a committee the mean of all members'.
func (a *analyst) errors(c event.ShowErrors) (event.ErrorsEvent, error) {
	place := a.nets.place
	outputsTo := func(dst, x *mat.Dense) { place.outputsTo(dst, x, countedOf(a.nets.members)) }
	e, err := analysis.Errors(place.problem, c, place.pool.Threads(), outputsTo, a.pause)
	e.Epoch = a.nets.epoch
	return e, err
}

// scores returns how well the nets that the run ends with do on the rows that were not trained on, or on the training
// rows where there are no others: none where these are another program's, or can't be read, or once the run's context
// is done.
func (a *analyst) scores() (list []event.Scores) {
	place, ctx := a.nets.place, a.out.ctx
	if place.elsewhere() != nil {
		return nil
	}
	outputsTo := func(dst, x *mat.Dense) { place.outputsTo(dst, x, a.nets.endWeights()) }
	if place.config.FoldCommittee() {
		if s, err := a.foldScores(); err == nil {
			list = append(list, s)
		}
	}
	for _, part := range []datasets.Part{datasets.Validation, datasets.Test, datasets.Train} {
		if place.problem.Split(part).Rows() == 0 || part == datasets.Train && list != nil {
			continue
		}
		if s, err := analysis.Scores(place.problem, part, place.pool.Threads(), outputsTo, ctx.Err); err == nil {
			list = append(list, s)
		}
	}
	return list
}

// foldScores returns how well the nets of a committee with folds do, each on the rows of its own.
func (a *analyst) foldScores() (event.Scores, error) {
	place, nets, row := a.nets.place, a.nets.endWeights(), 0
	s, err := analysis.Scores(place.problem, datasets.Train, place.pool.Threads(), func(dst, x *mat.Dense) {
		rows, outputs := dst.Dims()
		of := mat.NewDense(rows, outputs, nil)
		for k := range nets {
			place.outputsTo(of, x, nets[k:k+1])
			for i := range rows {
				if (row+i)%len(nets) == k {
					dst.SetRow(i, of.RawRowView(i))
				}
			}
		}
		row += rows
	}, a.out.ctx.Err)
	s.Split = datasets.Validation.String()
	return s, err
}

// slice computes a slice of the last proposed step over all training rows. The step of a committee is that of the
// member whose turn was the last; in block mode it is the last block's, from the weights within the sweep, with the ρ
// that it had for its own block; of a mixture whose gates are tuned apart it moves the experts alone. No passes are
// kept, so that it needs no memory that grows with the rows.
func (a *analyst) slice() (event.SliceEvent, error) {
	place, k := a.nets.place, &a.proposed
	e := k.event
	if a.along == nil {
		a.along = place.problem.Minimized(place.rows().Bind(objective.Rows{},
			models.Options{Pool: place.pool, Memory: 1}))
	}
	a.along.Update(k.from)
	err := a.pause()
	if err == nil {
		err = analysis.Slice(a.along, k.from, k.step, &e, a.pause)
	}
	return e, err
}

// showWeights publishes a block of weights as it is now, of a committee the first member's.
func (a *analyst) showWeights(to, from int) error {
	first := a.nets.members[0]
	e, ok := analysis.Weights(a.nets.place.problem, first.counted(first.weights), to, from)
	if !ok {
		return event.Refuse("the net has no weights from layer %d to layer %d", from, to)
	}
	e.Epoch = a.nets.epoch
	a.out.publish(e)
	return nil
}

// firstProducts is how many products a spectrum is expected to take that is the run's first.
const firstProducts = 40

// affordable reports whether another spectrum fits into the share of time that they may take.
func (a *analyst) affordable() bool {
	place, c := a.nets.place, a.clocks
	share := place.config.SpectrumShare
	if share == 0 {
		return true
	}
	next := a.took
	if next == 0 && a.nets.objective.Spent.Equivalents > 0 { // a product takes about two gradients
		next = 2 * firstProducts * c.training.seconds() / a.nets.objective.Spent.Equivalents
		if n, total := a.spectrumRows(), place.problem.Train.Rows(); n > 0 {
			next *= float64(n) / float64(total)
		}
	}
	return c.spectra.seconds()+next <= share*c.training.seconds()
}

// spectrumRows is how many rows a spectrum averages over; 0: all.
func (a *analyst) spectrumRows() int {
	place := a.nets.place
	if n := cmp.Or(place.config.SpectrumRows, defaultRows); n > 0 && place.elsewhere() == nil &&
		n < place.problem.Train.Rows() {
		return n
	}
	return 0
}

// computeSpectrum estimates the eigenvalues that the Config asks for at the current weights, of a committee the
// first member's, and publishes them. The operator acts on all weights, those of gates included. If it is interrupted
// when the eigenvalues are known they are published without their density.
func (a *analyst) computeSpectrum() {
	a.spectrum = false
	a.clocks.training.stop()
	a.clocks.spectra.start()
	begun := a.clocks.spectra.seconds()
	defer func() {
		a.clocks.spectra.stop()
		a.took = a.clocks.spectra.seconds() - begun
	}()
	a.computing = "spectrum"
	a.out.publish(nil)
	defer func() {
		a.computing = ""
		a.out.publish(nil)
	}()
	place := a.nets.place
	c, total := place.config, place.problem.Train.Rows()
	if a.sample == nil {
		l := place.rows().Bind(objective.Rows{Count: a.spectrumRows()},
			models.Options{Pool: place.pool, Memory: c.Memory, Double: true})
		a.sample = place.problem.Minimized(l)
	}
	a.sample.Update(a.nets.members[0].weights)
	e, start := analysis.Spectrum(a.sample, analysis.SpectrumOptions{
		Count:    cmp.Or(c.Spectrum, defaultSpectrum),
		Method:   a.spectrumMethod(),
		Operator: cmp.Or(c.SpectrumOf, analysis.SpectrumOperators[0]),
		Density:  c.Density,
		Seed:     streamSpectrum,
		Probes:   a.probeSeed(),
		Start:    a.start,
		Memory:   c.Memory,
		Poll:     a.poll,
	})
	a.start = start
	if e.Stop == krylov.Interrupted {
		return
	}
	e.Epoch, e.Selection = a.nets.epoch, "all"
	a.newest = e.Epoch
	if e.Rows < total {
		e.Selection = "evenly spaced"
	}
	a.out.publish(e)
}

// probeSeed is that of a density's probes, which follow from nothing that a checkpoint would have to keep.
func (a *analyst) probeSeed() uint64 {
	c := a.nets.place.config
	if !c.FreshProbes {
		return streamSpectrum
	}
	return rand.New(rand.NewPCG(c.Seed, streamProbes+uint64(a.nets.epoch)<<8)).Uint64()
}

func (a *analyst) spectrumMethod() string {
	return cmp.Or(a.nets.place.config.SpectrumMethod, analysis.SpectrumMethods[0])
}

// archive carries what the next spectrum begins with, if it is by the same method.
func (a *analyst) archive(k *optim.Archive) {
	dim := a.nets.place.problem.Dim()
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
