package bench

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"newtop/models"
	"newtop/models/reduce"
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

func (p pair) SumFixed(tree reduce.Tree, dst []float64, nodes [][]float64) error {
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
	l.problem, err = trainer.Prepare(c)
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
