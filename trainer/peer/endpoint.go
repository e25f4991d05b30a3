// Package peer trains and watches models that another program has. An Endpoint answers for such a model: a Client over
// the protocol of docs/peer.md. A Model makes of it what sessions train.
package peer

import (
	"errors"
	"slices"
)

// ErrUnsupported says that an endpoint does not answer a request, and continues.
var ErrUnsupported = errors.New("not supported")

// About is what an endpoint says of its model.
type About struct {
	Name     string // of the model, for people
	Program  string // what computes it, for people
	Dim      int    // how many weights
	Single   bool   // whether its numbers have 24 bits and not 53
	Blocks   []Block
	Has      []string // requests that it answers, of those below
	Rows     int      // that losses are means over; 0: not known
	TestRows int      // that Eval is a mean over; 0: none, or not known
	Classes  int      // 0: regression, or not known
	Outputs  int      // 0: not known
	Loss     string   // its name, for people
	Digest   string   // of model and data; empty: not known
	Findings []Finding
	Factors  Factors
	Batches  []int             // the rows of each batch, if rows are told by numbers of batches; nil: by their own
	Lacks    map[string]string // why it does not answer requests
}

// Factors are what an endpoint that answers factors has those of.
type Factors struct {
	Draws  int  `json:"draws"`  // random numbers that a row's target is drawn by
	Normal bool `json:"normal"` // whether they are standard normal; else in [0, 1)
	Layers []struct {
		Block string `json:"block"`
		Kind  string `json:"kind"` // matrix, table or diagonal
		Bias  bool   `json:"bias"` // whether the next block has the biases
	} `json:"layers"`
}

// Requests that not every endpoint answers, as docs/peer.md names them.
const (
	HasGradient    = "grad"
	HasHessian     = "hv"
	HasGaussNewton = "gnv"
	HasDiagonal    = "diag"
	HasEval        = "eval"
	HasRows        = "rows"
	HasEvents      = "event"
	HasUpdate      = "update"
	HasFactors     = "factors"
	HasSample      = "sample" // at and loss with rows
)

// Can reports whether the endpoint answers a request.
func (a *About) Can(request string) bool { return slices.Contains(a.Has, request) }

// some returns rows as the endpoint is asked for them: nil for all of one that has no others.
func (a *About) some(rows []int) []int {
	if len(rows) == max(1, a.Rows) && !a.Can(HasRows) {
		return nil
	}
	return rows
}

// rowsIn returns how many rows there are of such numbers.
func (a *About) rowsIn(numbers []int) int {
	if a.Batches == nil {
		return len(numbers)
	}
	rows := 0
	for _, k := range numbers {
		rows += a.Batches[k]
	}
	return rows
}

// Block is a tensor of weights.
type Block struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// Size is how many weights it has.
func (b *Block) Size() int {
	n := 1
	for _, d := range b.Shape {
		n *= d
	}
	return n
}

// Finding is something in a model that is known to spoil curvature.
type Finding struct {
	What   string `json:"what"`
	Where  string `json:"where"`
	Remedy string `json:"remedy"`
	Fatal  bool   `json:"fatal"`
}

// Metrics tell how well weights do. Error and RMSE are NaN where the model does not tell them.
type Metrics struct{ Loss, Error, RMSE float64 }

// Endpoint answers for a model. One goroutine at a time calls its methods. Vectors have About.Dim numbers. An error
// that wraps ErrUnsupported says that this request alone is not answered; after any other error all methods fail.
//
// The point is the vector of weights that At was last given, at first the weights that the model has, with the rows
// that requests at it are over; nil: all.
type Endpoint interface {
	About() *About
	// the weights to begin with: those that the model has, or the endpoint's own where it has none
	Start(dst []float64) error
	At(w []float64, rows []int) error
	// at w over some rows, which the point does not move to; nil: at the point
	Loss(w []float64, rows []int) (Metrics, error)
	Eval(w []float64) (Metrics, error)         // the same over the test rows
	GradientTo(dst []float64) (Metrics, error) // at the point
	// at w over some rows; nil: all
	RowsGradientTo(dst, w []float64, rows []int) (loss float64, err error)
	HessianTo(dst, v []float64) error
	GaussNewtonTo(dst, v []float64) error
	DiagonalTo(dst []float64) error
	// FactorsTo stores the factors of all layers at w over some rows, one after the other, inputs first. A factor has
	// one number, its mean, or all.
	FactorsTo(dst, w []float64, rows []int, draws []float64, sizes []int) error
	Set(w []float64) error // these are the weights now
	Close() error
}
