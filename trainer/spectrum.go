package trainer

import (
	"cmp"

	"newtop/models"
	"newtop/trainer/analysis"
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
	e, start := analysis.Spectrum(r.sample, analysis.SpectrumOptions{
		Count:    cmp.Or(r.config.Spectrum, defaultSpectrum),
		Method:   r.spectrumMethod(),
		Operator: cmp.Or(r.config.SpectrumOf, analysis.SpectrumOperators[0]),
		Density:  r.config.Density,
		Seed:     streamSpectrum,
		Start:    r.start,
		Poll:     r.interject,
	})
	r.start = start
	if e.Stop == krylov.Interrupted {
		return r.ctx.Err()
	}
	e.Epoch, e.Selection = r.epoch, "all"
	if e.Rows < r.problem.Train.Total() {
		e.Selection = "evenly spaced"
	}
	r.publish(e)
	return r.ctx.Err()
}

func (r *run) spectrumMethod() string {
	return cmp.Or(r.config.SpectrumMethod, analysis.SpectrumMethods[0])
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
