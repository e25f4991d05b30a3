package bench

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"newtop/models"
	"newtop/trainer"
	"newtop/trainer/objective"
)

// pair is two processes in one, whose sums are added up in process 0's place.
type pair struct {
	rank int
	*meeting
}

// meeting is where the two swap what they have.
type meeting struct{ to [2]chan []float64 }

func (p pair) Rank() int             { return p.rank }
func (p pair) Size() int             { return 2 }
func (p pair) Alloc(n int) []float64 { return make([]float64, n) }

func (p pair) Bcast(x []float64, root int) error {
	if p.rank == root {
		p.to[1-p.rank] <- append([]float64(nil), x...)
	} else {
		copy(x, <-p.to[p.rank])
	}
	return nil
}

func (p pair) Sum(x []float64) error {
	if p.rank == 1 {
		p.to[0] <- append([]float64(nil), x...)
		return nil
	}
	for i, v := range <-p.to[0] {
		x[i] += v
	}
	return nil
}

func (p pair) SumFixed(tree models.Tree, dst []float64, nodes [][]float64) error {
	if len(nodes) != 1 || len(nodes[0]) != len(dst) || len(tree.Nodes(p.rank, 2)) != 1 {
		return errors.New("expected one node as long as the sum")
	}
	copy(dst, nodes[0])
	return p.Sum(dst)
}

func TestMeasureExchanges(t *testing.T) {
	m := &meeting{[2]chan []float64{make(chan []float64, 1), make(chan []float64, 1)}}
	o := ScaleOptions{Quick: true, Budget: time.Millisecond}
	var other sync.WaitGroup
	other.Go(func() {
		if list, err := MeasureExchanges(t.Context(), pair{1, m}, o); list != nil || err != nil {
			t.Errorf("process 1: %v, %v", list, err)
		}
	})
	list, err := MeasureExchanges(t.Context(), pair{0, m}, o)
	if err != nil {
		t.Fatal(err)
	}
	other.Wait()
	if len(list) != 8 {
		t.Fatalf("%d exchanges, expected three of three sizes, but two of the first", len(list))
	}
	for i, x := range list {
		i++ // what is sent to all is not worth its own with one number
		if x.Bytes != 8*exchangeSizes[i/3] || x.What != []string{ToAll, FastSum, OrderedSum}[i%3] {
			t.Errorf("exchange %d is %s of %d bytes", i, x.What, x.Bytes)
		}
		if !(x.BestUS > 0 && x.MedianUS >= x.BestUS) || x.Times < 1+turns {
			t.Errorf("%+v", x)
		}
	}
}

// broken is a process whose MPI fails.
type broken struct{ pair }

var errBroken = errors.New("MPI_ERR_OTHER")

func (broken) Bcast([]float64, int) error { return errBroken }

func TestMeasureExchangesReturnsErrors(t *testing.T) {
	if _, err := MeasureExchanges(t.Context(), broken{}, ScaleOptions{Quick: true}); !errors.Is(err, errBroken) {
		t.Errorf("error %v, want MPI's", err)
	}
}

// lonely is a team of one that says that it is two, and has all rows. It is asked for nothing else.
type lonely struct {
	trainer.Team
	problem *objective.Problem
}

func (l *lonely) Size() int { return 2 }

func (l *lonely) Prepare(c *trainer.Config) (p *objective.Problem, err error) {
	l.problem, err = c.Prepare()
	return l.problem, err
}

func (l *lonely) Bind(_ objective.Rows, o models.Options) objective.Linearization {
	return l.problem.Network.Bind(l.problem.Train.Inputs, l.problem.Train.Targets, o)
}

func TestMeasureTeam(t *testing.T) {
	list, err := MeasureTeam(t.Context(), &lonely{}, ScaleOptions{Quick: true, Budget: time.Millisecond, Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 {
		t.Fatalf("%d problems", len(list))
	}
	if p := list[0]; p.Net != "70-50" || p.Weights != 6066 || p.Rows != 4000 || p.PerRow != 2*(2*16*70+6*(70*50+50*26)) {
		t.Errorf("letter net: %+v", p)
	}
	for _, p := range list {
		first, last := p.Setups[0], p.Setups[len(p.Setups)-1]
		if first.Ranks != 1 || first.Threads != 1 || last.Ranks != 2 || last.Threads != 1 {
			t.Errorf("%s is measured in %+v", p.Net, p.Setups)
		}
		for _, s := range p.Setups {
			if !(s.BestMS > 0 && s.MedianMS >= s.BestMS) {
				t.Errorf("%s: %+v", p.Net, s)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MeasureTeam(ctx, &lonely{}, ScaleOptions{Quick: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// measuredAs are the figures of two processes of one thread that keep to a model.
func measuredAs(m *Model) (exchanges []Exchange, products []TeamProduct) {
	prices := m.prices()
	for _, n := range exchangeSizes {
		for _, what := range []string{ToAll, FastSum, OrderedSum} {
			x := Exchange{What: what, Bytes: 8 * n}
			o := x.observation(2)
			x.BestUS = o.at(&prices).seconds(&prices) * 1e6
			exchanges = append(exchanges, x)
		}
	}
	for _, p := range []TeamProduct{{Net: "70-50", Weights: 6066, Rows: 16000, PerRow: 62080}, {Net: "70-50", Weights: 6066, Rows: 2000, PerRow: 62080},
		{Net: "978-978", Weights: 999_542, Rows: 2000, PerRow: 1.2e7}, {Net: "978-978", Weights: 999_542, Rows: 200, PerRow: 1.2e7}} {
		one := p.product().seconds(1, InOrder, m) * 1e3
		p.Setups = []Setup{{Ranks: 1, Threads: 1, BestMS: one}, {Ranks: 1, Threads: 2, BestMS: one / 2},
			{Ranks: 2, Threads: 1, BestMS: p.product().seconds(2, InOrder, m) * 1e3}}
		products = append(products, p)
	}
	return exchanges, products
}

func TestNewScale(t *testing.T) {
	known := Model{2e-11, 5e-9, 1e-6, 1.5e-10, 3e-10, 0, 0}
	exchanges, products := measuredAs(&known)
	s := NewScale(2, exchanges, products, ScaleOptions{Threads: 1})
	want, got := known.prices(), s.Fitted.prices()
	for i := range got {
		if !near(got[i], want[i], 1e-6) {
			t.Errorf("resource %d costs %g, want %g", i, got[i], want[i])
		}
	}
	if len(s.Speeds) != 2 || s.Speeds[0].Net != "70-50" || s.Speeds[1].Net != "978-978" || !near(s.Speeds[1].Operation, 2e-11, 1e-6) {
		t.Errorf("speeds %+v", s.Speeds)
	}
	if s.Misfit > 1e-6 {
		t.Errorf("misfit %g", s.Misfit)
	}
	for _, x := range s.Exchanges {
		if !near(x.FittedUS, x.BestUS, 1e-6) {
			t.Errorf("%+v", x)
		}
	}
	for _, p := range s.Products {
		if p.Setups[1].FittedMS != nil {
			t.Errorf("%s of two threads in one process was fitted", p.Net)
		}
		for _, i := range []int{0, 2} {
			if s := p.Setups[i]; s.FittedMS == nil || !near(*s.FittedMS, s.BestMS, 1e-6) {
				t.Errorf("%s: %+v", p.Net, s)
			}
		}
	}
}

// What predictions must come to whatever the model: 10⁹ rows are 10⁴ s of one machine of 1 Tflop/s; efficiencies fall with
// more machines (up to 1,000: 1,024 can go in pairs), are less for fewer rows, and a broadcast before a reduction takes longer than an all-reduce.
func TestPredictions(t *testing.T) {
	known := Model{2e-11, 1e-9, 1e-6, 1.5e-10, 3e-10, 0, 0}
	exchanges, products := measuredAs(&known)
	s := NewScale(2, exchanges, products, ScaleOptions{Threads: 1})
	if s.Assumed != DefaultAssumed() {
		t.Errorf("assumed %+v", s.Assumed)
	}
	for i, p := range s.Predictions {
		fixed, fast, reduce := p.Reductions[0], p.Reductions[1], p.Reductions[2]
		if fixed.Reduction != InOrder || fast.Reduction != AnyOrder || reduce.Reduction != AllReduce || fast.Seconds > fixed.Seconds {
			t.Errorf("%+v", p)
		}
		busy := 1e7 * float64(p.Rows) / 1e12 / float64(p.Machines) * p.Busiest
		if p.Busiest < 1 || fast.Seconds < busy || fast.Efficiency > 1/p.Busiest+1e-3 {
			t.Errorf("%d machines, %d rows: %g s, efficiency %g, busiest %g", p.Machines, p.Rows, fast.Seconds, fast.Efficiency, p.Busiest)
		}
		if p.Machines > 10 && p.Machines <= 1000 && p.Busiest < 1.05 && fast.Efficiency > s.Predictions[i-1].Reductions[1].Efficiency+1e-3 {
			t.Errorf("%d machines are more efficient than fewer", p.Machines)
		}
	}
	if p := s.Predictions[0]; p.Rows != 1e9 || p.Machines != 10 || !near(p.Reductions[1].Seconds/p.Busiest, 1000, 0.001) {
		t.Errorf("10⁹ rows on ten machines: %+v", p)
	}
	for _, g := range s.Gains {
		if !(g.Gain >= 1 && g.Gain <= float64(g.Machines)) || g.Two > 2 || !near(g.Gain*g.MS, g.OneMS, 1e-9) {
			t.Errorf("%+v", g)
		}
	}
	for _, p := range s.Pays {
		if !(p.Well >= p.AtAll) || math.IsInf(p.Well, 0) {
			t.Errorf("%+v", p)
		}
	}
}

// BenchmarkFit is what a report waits for after it has measured.
func BenchmarkFit(b *testing.B) {
	exchanges, products := measuredAs(&Model{2e-11, 5e-9, 1e-6, 1.5e-10, 3e-10, 0, 0})
	for b.Loop() {
		NewScale(2, exchanges, products, ScaleOptions{Threads: 1})
	}
}
