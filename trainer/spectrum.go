package trainer

import (
	"slices"

	"newtop/models"
	"newtop/trainer/krylov"
	"newtop/trainer/optim"

	"gonum.org/v1/gonum/mat"
)

// spectrumRows bounds the rows that a spectrum averages over, so that one costs seconds at most. They
// are the same in every spectrum of a run, evenly spaced over the training rows, and the event says how
// many they are.
const spectrumRows = 2048

// defaultSpectrum is how many eigenvalues are estimated at each end when the Config does not say.
const defaultSpectrum = 3

// computeSpectrum estimates the extreme eigenvalues of the Hessian at the weights of now and publishes
// them. Commands are answered between its products; one that ends the run or its method ends it too. It
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
	r.sample.Update(r.state.W)
	k := r.config.Spectrum
	if k == 0 {
		k = defaultSpectrum
	}
	spectrum, err := krylov.Lanczos(hessian{r.sample}, k, krylov.LanczosOptions{
		Seed:    streamSpectrum,
		Start:   r.start,
		Vectors: true,
		Monitor: func(int) error { return r.interject() },
	})
	if err != nil || spectrum.Stop == krylov.NotFinite {
		return r.ctx.Err()
	}
	r.start = spectrum.Start()
	e := SpectrumEvent{
		Epoch:    r.epoch,
		Method:   "lanczos",
		Operator: "hessian",
		Rows:     r.sampled,
		Products: spectrum.Products,
	}
	slices.Reverse(spectrum.Bottom)
	for _, p := range slices.Concat(spectrum.Top, spectrum.Bottom) {
		e.Eigenvalues = append(e.Eigenvalues, Float(p.Value))
		e.Residuals = append(e.Residuals, Float(p.Residual))
	}
	r.publish(e)
	return nil
}

// interject answers the commands that came while a spectrum was computed. A changed setting makes an inner
// solve begin anew, but is no reason to give up the spectrum.
func (r *run) interject() error {
	for {
		select {
		case q := <-r.requests:
			r.answer(q)
		case <-r.ctx.Done():
			return r.ctx.Err()
		default:
			if r.expired() {
				r.end, r.giveUp = ReasonTime, true
			}
			if r.giveUp && (r.end != "" || r.next != nil) {
				return optim.ErrInterrupted
			}
			return nil
		}
	}
}

// bindSample binds the network to the rows of the spectrum.
func (r *run) bindSample() *models.Linearization {
	train := &r.problem.Data.Train
	rows := train.Rows()
	r.sampled = min(rows, spectrumRows)
	x, t := train.Inputs, train.Targets
	if r.sampled < rows {
		x, t = evenly(x, r.sampled), evenly(t, r.sampled)
	}
	return r.problem.Network.Bind(x, t, models.Options{Pool: r.pool, Memory: r.config.Memory})
}

// evenly copies n rows of m, evenly spaced.
func evenly(m *mat.Dense, n int) *mat.Dense {
	rows, columns := m.Dims()
	out := mat.NewDense(n, columns, nil)
	for i := range n {
		copy(out.RawRowView(i), m.RawRowView(i*rows/n))
	}
	return out
}

// hessian is the Hessian of a linearization.
type hessian struct{ *models.Linearization }

func (h hessian) MulVecTo(dst, v []float64) { h.HessianTo(dst, v) }
