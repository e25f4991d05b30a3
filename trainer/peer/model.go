package peer

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// Model is the model behind an endpoint, as sessions train it. Where the endpoint fails, what was asked of the model
// panics with an objective.Failure.
type Model struct {
	end    Endpoint
	about  *About
	blocks []models.Block
	start  []float64
	notes  []string
	flat   string         // why a model that answers Gauss–Newton products has none to use; "": it has
	point  []float64      // where the endpoint's is; empty: not known
	rows   []int          // over which requests at the point are; nil: all
	at     *linearization // whose weights that are; nil: nobody's, as far as is known

	beside, ahead []float64 // for products from differences

	observed bool // the point is where the program's weights are
}

var _ objective.External = (*Model)(nil)

// NewModel returns the model of an endpoint once it is known that its answers can be used. The error is one line.
func NewModel(end Endpoint) (*Model, error) { return newModel(end, false) }

// NewObserved is NewModel for one that its program trains, between two of its steps. Its point can't be moved.
func NewObserved(end Endpoint) (*Model, error) { return newModel(end, true) }

func newModel(end Endpoint, observed bool) (*Model, error) {
	m := &Model{end: end, about: end.About(), observed: observed}
	if c, ok := end.(*Client); ok && c.observed && !observed {
		return nil, fmt.Errorf("%s trains its own model and lets newtop analyse it (newtop.probe): expected "+
			"newtop watch -- PROGRAM, or newtop.serve in the program", m.about.Name)
	}
	if !m.about.Can(HasGradient) {
		return nil, fmt.Errorf("%s has no gradient: expected a model that answers grad", m.about.Name)
	}
	offset := 0
	for i := range m.about.Blocks {
		b := matrix(&m.about.Blocks[i])
		b.To, b.From, b.Offset = i+1, i, offset
		m.blocks = append(m.blocks, b)
		offset += b.Size()
	}
	m.start = make([]float64, m.about.Dim)
	if err := end.Start(m.start); err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		return nil, err
	}
	return m, nil
}

// matrix returns a tensor as a matrix: its first dimension by all others.
func matrix(b *Block) models.Block {
	out := models.Block{Rows: 1, Cols: b.Size()}
	if len(b.Shape) > 1 && b.Shape[0] > 0 {
		out.Rows, out.Cols = b.Shape[0], b.Size()/b.Shape[0]
	}
	return out
}

// About is what the endpoint says of the model.
func (m *Model) About() *About { return m.about }

// Notes are what people should know of the model before they trust its metrics, a line each.
func (m *Model) Notes() []string { return m.notes }

// Dim returns how many weights there are.
func (m *Model) Dim() int { return m.about.Dim }

// Blocks returns the tensors as matrices.
func (m *Model) Blocks() []models.Block { return m.blocks }

// Weights returns the tensors of two dimensions or more, as matrices.
func (m *Model) Weights() (out []models.Block) {
	for i, b := range m.blocks {
		if len(m.about.Blocks[i].Shape) > 1 {
			out = append(out, b)
		}
	}
	return out
}

// InitTo stores the weights that the model began with.
func (m *Model) InitTo(dst []float64) { copy(dst, m.start) }

// Digest returns sixteen bytes of one over the names and shapes of the tensors, the rows, and what the endpoint tells
// of data.
func (m *Model) Digest() string {
	h := sha256.New()
	for _, b := range m.about.Blocks {
		fmt.Fprintf(h, "%q %v\n", b.Name, b.Shape)
	}
	fmt.Fprintf(h, "%d rows %s", m.about.Rows, m.about.Digest)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Offers returns an *optim.CapabilityError for what the model lacks. Products with the Hessian can always be had, from
// differences of gradients if need be, and the Gauss–Newton matrix from its products.
func (m *Model) Offers(need optim.Capability) error {
	lacks := func(c optim.Capability, ok bool, reason string) error {
		if need&c == 0 || ok {
			return nil
		}
		return &optim.CapabilityError{Reason: fmt.Sprintf("%s: %s", m.about.Name, reason)}
	}
	return errors.Join(
		lacks(optim.NeedsGaussNewton, m.about.Can(HasGaussNewton),
			cmp.Or(m.flat, "the model answers no products with the Gauss–Newton matrix")),
		lacks(optim.NeedsLayers, false, "its layers are not known: expected a method that needs none"),
		lacks(optim.NeedsFactors, m.about.Can(HasFactors), cmp.Or(m.about.Lacks[HasFactors],
			"the model gives no factors of its curvature")+": expected a method that needs none, as soap"),
		lacks(optim.NeedsSquares, false, "the model gives no squares of its rows' gradients"),
		lacks(optim.NeedsSample, m.about.Can(HasSample) && m.about.Batches == nil,
			"the model answers no products over some of its rows"),
		lacks(optim.NeedsJacobian, need&optim.NeedsMatrix != 0, "the model gives no rows of its Jacobian"),
	)
}

// OffersDiagonal returns an *optim.CapabilityError if the model has no diagonal of the Gauss–Newton matrix.
func (m *Model) OffersDiagonal() error {
	if m.about.Can(HasDiagonal) {
		return nil
	}
	return &optim.CapabilityError{Reason: m.about.Name + ": the model answers no diagonal of the Gauss–Newton matrix"}
}

// OffersBatches returns an *optim.CapabilityError if the model has no losses of some of its rows. All rows at once can
// always be had.
func (m *Model) OffersBatches() error {
	if m.about.Can(HasRows) {
		return nil
	}
	return &optim.CapabilityError{Reason: m.about.Name + ": the model has no rows to take some of: expected batch=0"}
}

// Bind returns the model on all its test rows, or on training rows, of which it takes some if it can: in whole batches
// where it has these.
func (m *Model) Bind(rows objective.Rows, _ models.Options) objective.Linearization {
	l := &linearization{m: m, test: rows.Part == datasets.Test, w: make([]float64, m.Dim())}
	if l.test || rows == (objective.Rows{}) {
		return l
	}
	if err := m.OffersParts(); err != nil {
		panic(objective.Failure{Err: err})
	}
	units := cmp.Or(len(m.about.Batches), m.about.Rows)
	if rows.Count > 0 { // of rows, or of batches that have about as many
		rows.Count = max(1, int(math.Round(float64(rows.Count)/float64(m.about.Rows)*float64(units))))
	}
	for j := range rows.Of(units) {
		l.rows = append(l.rows, rows.At(j, units))
	}
	return l
}

// Batches are the rows of each batch, in which alone rows can be taken; nil: they come one by one.
func (m *Model) Batches() []int { return m.about.Batches }

// OffersParts returns an *optim.CapabilityError if the model has no curvature of some of its rows.
func (m *Model) OffersParts() error {
	if m.about.Can(HasSample) {
		return nil
	}
	return &optim.CapabilityError{Reason: m.about.Name + ": its rows can't be split into blocks"}
}

// BindSample returns the model on some of its training rows.
func (m *Model) BindSample(rows []int) objective.Linearization {
	return &linearization{m: m, rows: slices.Clone(rows), w: make([]float64, m.Dim())}
}

// FactorMatrices returns the layers that the model has factors of.
func (m *Model) FactorMatrices() (all []optim.Matrix) {
	next := 0
	for _, l := range m.about.Factors.Layers {
		for m.about.Blocks[next].Name != line(l.Block) {
			next++
		}
		b := m.blocks[next]
		o := optim.Matrix{To: b.To, From: b.From, Rows: b.Rows, Cols: b.Cols, Offset: b.Offset, Biased: l.Bias,
			DiagonalInputs: l.Kind == "diagonal", DiagonalOutputs: l.Kind == "table"}
		if o.DiagonalInputs {
			o.Rows, o.Cols = 1, b.Size()
		}
		all = append(all, o)
	}
	return all
}

// RowsFactorsTo stores factors at w over some rows, by targets that are drawn from rng.
func (m *Model) RowsFactorsTo(factors []optim.Factors, w []float64, rows []int, rng *rand.Rand) {
	draws := make([]float64, len(rows)*m.about.Factors.Draws)
	draw := rng.Float64
	if m.about.Factors.Normal {
		draw = rng.NormFloat64
	}
	for i := range draws {
		draws[i] = draw()
	}
	var sizes []int
	length := 0
	for _, f := range factors {
		sizes = append(sizes, len(f.Inputs), len(f.Outputs))
		length += len(f.Inputs) + len(f.Outputs)
	}
	all := make([]float64, length)
	m.must(m.end.FactorsTo(all, w, m.about.some(rows), draws, sizes))
	for _, f := range factors {
		all = all[copy(f.Inputs, all):]
		all = all[copy(f.Outputs, all):]
	}
}

// Current returns the model at the weights that its program has now, and stores those. What it returned before is void.
func (m *Model) Current(w []float64) (objective.Linearization, error) {
	if err := m.end.Start(w); err != nil {
		return nil, err
	}
	l := &linearization{m: m, w: w}
	return l, nil
}

// RowsGradientTo stores the gradient of the mean over some rows at w.
func (m *Model) RowsGradientTo(dst, w []float64, rows []int) float64 {
	loss, err := m.end.RowsGradientTo(dst, w, m.about.some(rows))
	m.must(err)
	return loss
}

// SendEvent tells the model of an event, if it wants to know.
func (m *Model) SendEvent(text []byte) {
	if c, ok := m.end.(*Client); ok && m.about.Can(HasEvents) {
		if err := c.SendEvent(text); !errors.Is(err, ErrUnsupported) { // as one that is too long
			m.must(err)
		}
	}
}

// SetWeights leaves the model weights, at the end of a run.
func (m *Model) SetWeights(w []float64) error {
	err := m.end.Set(w)
	if errors.Is(err, ErrUnsupported) {
		return nil
	}
	return err
}

// Close ends the endpoint.
func (m *Model) Close() error { return m.end.Close() }

// Leave tells the model that nothing more will be asked of it. Its program, if newtop has started one, continues: ended
// is closed when it has ended, and failure tells then how. A nil ended is for models without one.
func (m *Model) Leave() (ended <-chan struct{}, failure func() error) {
	c, ok := m.end.(*Client)
	if !ok {
		return nil, nil
	}
	c.Leave()
	return c.Ended(), c.Failure
}

// InterruptRequest breaks a request that is in progress.
func (m *Model) InterruptRequest(cause error) {
	if h, ok := m.end.(interface{ InterruptRequest(error) }); ok {
		h.InterruptRequest(cause)
	}
}

// must panics with an objective.Failure unless err is nil.
func (m *Model) must(err error) {
	if err != nil {
		panic(objective.Failure{Err: err})
	}
}

// unitRoundoff is that of the model's numbers: bfloat16's where some have 16 bits.
func unitRoundoff(a *About) float64 {
	switch {
	case a.rounds():
		return 0x1p-9
	case a.Single:
		return 0x1p-24
	}
	return 0x1p-53
}

// step is how far gradients are apart that a product is formed from, as a multiple of v:
//
//	h = ε^⅓ (1 + ‖w‖)/‖v‖      ε the unit roundoff
func (m *Model) step(w, v []float64) float64 {
	return math.Cbrt(unitRoundoff(m.about)) * (1 + floats.Norm(w, 2)) / floats.Norm(v, 2)
}

// differenceTo stores a product with the Hessian at w from central differences of gradients, (∇E(w + hv) − ∇E(w − hv))
// / 2h, over some rows; nil: all.
func (m *Model) differenceTo(dst, w, v []float64, h float64, rows []int) error {
	if math.IsInf(h, 0) {
		clear(dst)
		return nil
	}
	if len(m.beside) != len(w) {
		m.beside, m.ahead = make([]float64, len(w)), make([]float64, len(w))
	}
	if _, err := m.end.RowsGradientTo(m.ahead, floats.AddScaledTo(m.beside, w, h, v), rows); err != nil {
		return err
	}
	if _, err := m.end.RowsGradientTo(dst, floats.AddScaledTo(m.beside, w, -h, v), rows); err != nil {
		return err
	}
	for i, g := range m.ahead {
		dst[i] = (g - dst[i]) / (2 * h)
	}
	return nil
}
