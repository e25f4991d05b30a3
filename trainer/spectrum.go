package trainer

import (
	"cmp"
	"slices"

	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// defaultRows bounds the rows that a spectrum averages over when the Config does not say, so that one costs
// seconds at most. They are the same in every spectrum of a run, evenly spaced over the training rows.
const defaultRows = 2048

// defaultSpectrum is how many eigenvalues are estimated when the Config does not say: by Lanczos at each end,
// by the power method in all.
const defaultSpectrum = 3

// computeSpectrum estimates the eigenvalues that the Config asks for at the weights of now, of a committee the
// first member's, and publishes them. The operator acts on all weights, those of gates included. Commands are
// answered between its products, which are not charged to the run; one that ends the run or its method ends
// the spectrum too, and if its eigenvalues are known by then they are published without their density. It
// returns the context's error.
func (r *run) computeSpectrum() error {
	r.spectrum = false
	r.training.stop()
	r.looking.start()
	defer r.looking.stop()
	r.computing = "spectrum"
	r.publish(nil)
	defer func() {
		r.computing = ""
		r.publish(nil)
	}()
	if r.sample == nil {
		r.sample = r.bindSample()
	}
	r.sample.Update(r.members[0].weights)
	e := event.SpectrumEvent{
		Epoch:     r.epoch,
		Method:    r.spectrumMethod(),
		Operator:  cmp.Or(r.config.SpectrumOf, spectrumOperators[0]),
		Rows:      r.sample.Rows(),
		Selection: "all",
	}
	if e.Rows < r.problem.Train.Total() {
		e.Selection = "evenly spaced"
	}
	var h krylov.Operator = hessian{r.sample}
	if e.Operator == "gauss-newton" {
		h = gaussNewton{r.sample}
	}
	pairs := r.eigenpairs(h, &e)
	if e.Stop == krylov.Interrupted {
		return r.ctx.Err()
	}
	slices.SortStableFunc(pairs, func(a, b krylov.Eigenpair) int { return cmp.Compare(b.Value, a.Value) })
	for _, p := range pairs {
		e.Eigenvalues = append(e.Eigenvalues, event.Float(p.Value))
		e.Residuals = append(e.Residuals, event.Float(p.Residual))
	}
	if r.config.Density && pairs != nil {
		r.density(h, &e)
	}
	r.publish(e)
	return r.ctx.Err()
}

func (r *run) spectrumMethod() string { return cmp.Or(r.config.SpectrumMethod, spectrumMethods[0]) }

// eigenpairs returns the extreme eigenpairs by the event's method, nil if there are none, as the event's Stop tells. Each call
// begins with what the last one found.
func (r *run) eigenpairs(h krylov.Operator, e *event.SpectrumEvent) []krylov.Eigenpair {
	k := cmp.Or(r.config.Spectrum, defaultSpectrum)
	monitor := func(int) error { return r.interject() }
	if e.Method == "power" {
		found, err := krylov.Power(h, k, krylov.PowerOptions{
			Seed: streamSpectrum, Start: r.start, Vectors: true, Monitor: monitor,
		})
		e.Products, e.Stop = found.Products, found.Stop
		if err == nil && found.Pairs != nil {
			r.start = found.Start()
		}
		return found.Pairs
	}
	o := krylov.LanczosOptions{Seed: streamSpectrum, Vectors: true, Monitor: monitor}
	if r.start != nil {
		o.Start = r.start[0]
	}
	found, err := krylov.Lanczos(h, k, o)
	e.Products, e.Stop = found.Products, found.Stop
	pairs := slices.Concat(found.Top, found.Bottom)
	if err == nil && pairs != nil {
		r.start = [][]float64{found.Start()}
	}
	return pairs
}

// density adds the spectral density, and the trace that its probes give for nothing. The probes are the same
// every time, so that what changes is the matrix and not the chance.
func (r *run) density(h krylov.Operator, e *event.SpectrumEvent) {
	d, err := krylov.SpectralDensity(h, krylov.DensityOptions{
		Seed: streamSpectrum, Monitor: func(int) error { return r.interject() },
	})
	e.Products += d.Products
	if err != nil || d.Grid == nil {
		return
	}
	e.Density = &event.Density{
		Grid: event.Floats(d.Grid), Values: event.Floats(d.Values), Errors: event.Floats(d.Errors),
		Sigma: event.Float(d.Sigma), Probes: len(d.Quadratures), Steps: d.Steps,
	}
	e.Trace = &event.Trace{Value: event.Float(d.Trace.Value), Error: event.Float(d.Trace.Error), Probes: d.Trace.Probes}
}

// interject answers the commands that came while a spectrum or a look was computed. A changed setting makes an
// inner solve begin anew, but is no reason to give those up.
func (r *run) interject() error {
	for {
		if r.expired() {
			r.end, r.giveUp = event.ReasonTime, true
		}
		if r.giveUp && (r.end != "" || r.next != nil || r.back != nil) { // what comes next is for the method that takes over
			return optim.ErrInterrupted
		}
		select {
		case q := <-r.requests:
			r.answer(q)
		case <-r.ctx.Done():
			return r.ctx.Err()
		default:
			return nil
		}
	}
}

// bindSample binds the network to the rows of the spectrum.
func (r *run) bindSample() objective.Linearization {
	var rows objective.Rows
	if n := cmp.Or(r.config.SpectrumRows, defaultRows); n > 0 && n < r.problem.Train.Total() {
		rows.Count = n
	}
	return r.rows().Bind(rows, models.Options{Pool: r.pool, Memory: r.config.Memory})
}

// hessian is the Hessian of a linearization.
type hessian struct{ objective.Linearization }

func (h hessian) MulVecTo(dst, v []float64) { h.HessianTo(dst, v) }

// gaussNewton is the Gauss–Newton matrix of a linearization.
type gaussNewton struct{ objective.Linearization }

func (g gaussNewton) MulVecTo(dst, v []float64) { g.GaussNewtonTo(dst, v) }
