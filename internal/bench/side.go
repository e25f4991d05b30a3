package bench

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"newtop/internal/bench/peak"
	"newtop/models"
	"newtop/models/reduce"
	"newtop/trainer/krylov"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/firstorder"
	"newtop/trainer/optim/minibatch"
)

// Problem is what .ci/peers has all its sides compute on: a folder with case.json, and the numbers of x, t, w and v in
// float64 in files of their own.
type Problem struct {
	Nodes   []int  `json:"nodes"` // of the layers
	Rows    int    `json:"rows"`
	Loss    string `json:"loss"`    // squared: ½‖u − t‖² of tanh; cross: cross-entropy of softmax; linear: ½‖u − t‖²
	Batches []int  `json:"batches"` // of Adam's steps
	Steps   int    `json:"steps"`   // of an epoch of Adam at most

	net  *models.Network
	x, t *mat.Dense
	w, v []float64
}

// ReadProblem reads the folder, for passes in a precision.
func ReadProblem(dir string, precision models.Precision) (*Problem, error) {
	p := new(Problem)
	text, err := os.ReadFile(filepath.Join(dir, "case.json"))
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err != nil || len(p.Nodes) < 2 || p.Rows < 1 {
		return nil, cmp.Or(err, fmt.Errorf("%s: expected case.json with nodes and rows", dir))
	}
	out, loss := models.Tanh, models.SquaredError
	switch p.Loss {
	case "cross":
		out, loss = models.Softmax, models.CrossEntropy
	case "linear":
		out = models.Identity
	}
	first, hidden, last := p.Nodes[0], p.Nodes[1:len(p.Nodes)-1], p.Nodes[len(p.Nodes)-1]
	net, err := models.NewNetwork(models.Chain(first, hidden, last, models.Tanh, out, loss, models.SkipNone))
	if err != nil {
		return nil, err
	}
	p.net, p.w, p.v = net.In(precision), make([]float64, net.Dim()), make([]float64, net.Dim())
	p.x, p.t = mat.NewDense(p.Rows, first, nil), mat.NewDense(p.Rows, last, nil)
	for name, to := range map[string][]float64{"x": p.x.RawMatrix().Data, "t": p.t.RawMatrix().Data, "w": p.w, "v": p.v} {
		raw, err := os.ReadFile(filepath.Join(dir, name+".bin"))
		if err == nil {
			_, err = binary.Decode(raw, binary.LittleEndian, to)
		}
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", name, dir, err)
		}
	}
	return p, nil
}

// sideWork is one that a side is asked for by its name.
type sideWork struct {
	run   func()
	out   func() []float64 // what it computes
	units int              // steps that run takes
}

// Answer does what is asked line by line, and says what came of it in a line of JSON: "list", "out NAME FILE", which
// writes the numbers, "run NAME SECONDS", which says what the work takes, and "peak".
func (p *Problem) Answer(ctx context.Context, threads int, in io.Reader, out io.Writer) error {
	pool := reduce.NewPool(threads)
	defer pool.Close()
	works := p.works(pool)
	say := json.NewEncoder(out)
	for lines := bufio.NewScanner(in); ctx.Err() == nil && lines.Scan(); {
		words := append(strings.Fields(lines.Text()), "", "", "")
		work, known := works[words[1]]
		var answer any
		var err error
		switch {
		case words[0] == "list":
			answer = slices.Sorted(maps.Keys(works))
		case words[0] == "peak":
			answer = peak.Measure(time.Second)
		case !known:
			err = fmt.Errorf("expected one of the works, found %q", lines.Text())
		case words[0] == "out":
			var raw []byte
			raw, err = binary.Append(nil, binary.LittleEndian, work.out())
			answer, err = "done", cmp.Or(err, os.WriteFile(words[2], raw, 0o600))
		default:
			var seconds float64
			_, err = fmt.Sscan(words[2], &seconds)
			t := summarize((&clock{ctx: ctx, least: 3}).rounds(time.Duration(seconds*1e9), work.run)[0])
			answer = map[string]float64{"median": t.median / float64(work.units), "best": t.best / float64(work.units)}
		}
		if err != nil {
			return err
		}
		if err := say.Encode(answer); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// works are gradients and products over all rows, on passes that are kept and at new weights, outputs, the largest
// eigenvalues, and epochs of Adam.
func (p *Problem) works(pool *reduce.Pool) map[string]sideWork {
	o, dst := models.Options{Pool: pool}, make([]float64, p.net.Dim())
	works := map[string]sideWork{}
	add := func(name string, run func()) {
		works[name] = sideWork{run, func() []float64 { run(); return dst }, 1}
	}
	alone := p.net.Bind(p.x, p.t, o)
	o.Products = true
	l := p.net.Bind(p.x, p.t, o)
	alone.Update(p.w)
	l.Update(p.w)
	hessian, gaussNewton := func() { l.HessianTo(dst, p.v) }, func() { l.GaussNewtonTo(dst, p.v) }
	add("gradient", func() { alone.Update(p.w); alone.GradientTo(dst) })
	add("hv-kept", hessian)
	add("gn-kept", gaussNewton)
	add("hv", func() { l.Update(p.w); hessian() })
	add("gn", func() { l.Update(p.w); gaussNewton() })
	u := mat.NewDense(p.Rows, p.net.Outputs(), nil)
	outputs, x := p.net.NewOutputs(p.w, pool), models.Matrix(p.x)
	if p.net.Precision() == models.Single {
		x = models.ToSingle(p.x)
	}
	predict := func() { outputs.To(u, x) }
	works["predict"] = sideWork{predict, func() []float64 { predict(); return u.RawMatrix().Data }, 1}
	top := make([]float64, 5)
	largest := func() {
		l.Update(p.w)
		s, err := krylov.Lanczos(hessianOf{l}, len(top), krylov.LanczosOptions{Seed: 1, TopOnly: true, Tolerance: 1e-6, Floor: 1e-6})
		if err != nil {
			panic(err)
		}
		for i, pair := range s.Top {
			top[i] = pair.Value
		}
	}
	works["eigenvalues"] = sideWork{largest, func() []float64 { largest(); return top }, 1}
	for _, batch := range p.Batches {
		works[fmt.Sprintf("adam-%d", batch)] = p.adam(batch, pool)
	}
	return works
}

// hessianOf is the Hessian at the weights of the last Update.
type hessianOf struct{ *models.Linearization }

func (h hessianOf) MulVecTo(dst, v []float64) { h.HessianTo(dst, v) }

// adam is an epoch over as many rows as Steps take. What comes out is the weights after three epochs of a single
// batch, as the order of rows differs from side to side.
func (p *Problem) adam(batch int, pool *reduce.Pool) sideWork {
	begin := func(rows int) func() []float64 {
		x, t := p.x.Slice(0, rows, 0, p.net.Columns()).(*mat.Dense), p.t.Slice(0, rows, 0, p.net.Outputs()).(*mat.Dense)
		method, set := firstorder.Adam.New(), optim.NewSettings(firstorder.Adam.Parameters)
		err := set.Set(minibatch.Size.Key, float64(batch))
		s := &optim.State{Objective: objective.New(p.net, x, t, models.Options{Pool: pool, Memory: 1}),
			W: slices.Clone(p.w), Settings: set, Rand: rand.New(rand.NewPCG(1, 2)), Run: pool.Run,
			Monitor: func(optim.Inner) error { return nil }}
		return func() []float64 {
			if err == nil {
				_, err = method.Step(context.Background(), s)
			}
			if err != nil {
				panic(err)
			}
			return s.W
		}
	}
	steps := min(p.Steps, p.Rows/batch)
	epoch := begin(steps * batch)
	return sideWork{func() { epoch() }, func() []float64 {
		one := begin(batch)
		one()
		one()
		return one()
	}, steps}
}
