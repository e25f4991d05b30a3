package alert

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/trainer/event"
)

// losses makes epochs of a training and a test loss, as a program tells them that knows nothing else.
func losses(n int, train, test func(x float64) float64) (out []event.Event) {
	for i := range n {
		e := event.UnknownEpoch(i + 1)
		if train != nil {
			e.Loss = event.ValueOf(train(float64(i + 1)))
		}
		if test != nil {
			e.TestLoss = event.ValueOf(test(float64(i + 1)))
		}
		out = append(out, e)
	}
	return out
}

// told returns what a watch of all kinds, or of some, tells of events.
func told(events []event.Event, kinds ...Kind) (out []Alert) {
	if kinds == nil {
		kinds = All().Kinds
	}
	w := New(Rules{Kinds: kinds})
	for _, e := range events {
		out = append(out, w.See(e)...)
	}
	return out
}

func noise(seed uint64, size float64) func(x float64) float64 {
	r := rand.New(rand.NewPCG(seed, 2))
	return func(y float64) float64 { return y * (1 + size*r.NormFloat64()) }
}

func falling(x float64) float64 { return 0.1 + 2*math.Exp(-x/20) }

func TestNumbers(t *testing.T) {
	nan := math.NaN()
	events := losses(12, falling, nil)
	at := func(i int) *event.EpochEvent { e := events[i].(event.EpochEvent); return &e }
	change := func(i int, f func(*event.EpochEvent)) { e := at(i); f(e); events[i] = *e }
	change(3, func(e *event.EpochEvent) { e.Loss = event.ValueOf(nan) })
	change(4, func(e *event.EpochEvent) { e.Loss = event.Absent })       // says nothing
	change(5, func(e *event.EpochEvent) { e.Loss = event.ValueOf(nan) }) // told already
	change(7, func(e *event.EpochEvent) {
		e.Metrics = []event.Metric{{Key: "train/kl", Value: event.Float(math.Inf(-1))}}
	})
	change(9, func(e *event.EpochEvent) { e.TestLoss = event.ValueOf(nan) }) // train/kl has not recovered
	change(10, func(e *event.EpochEvent) { e.TestLoss, e.Metrics = 1, []event.Metric{{Key: "train/kl", Value: 1}} })
	change(11, func(e *event.EpochEvent) {
		e.GradientNorm = event.ValueOf(nan)
		e.TestError = event.ValueOf(math.Inf(1))
	})
	want := []Alert{{NaN, 4, "the training loss is not a number"}, {NaN, 8, "train/kl is infinite"}, {NaN, 12, "the test error is infinite"}}
	if got := told(events, NaN); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDivergence(t *testing.T) {
	for _, c := range []struct {
		name  string
		loss  func(x float64) float64
		n     int
		first int // the epoch of the first alert, 0: none
		calls int
	}{
		{"falls", falling, 200, 0, 0},
		{"falls under noise", func(x float64) float64 { return noise(uint64(x), 0.3)(falling(x)) }, 2000, 0, 0},
		{"explodes", func(x float64) float64 { return falling(x) + math.Exp(max(0, x-60)/3) - 1 }, 80, 64, 1},
		{"explodes from the start", func(x float64) float64 { return 2.3 * math.Pow(1.5, x) }, 20, 8, 1},
		{"becomes NaN", func(x float64) float64 {
			if x > 30 {
				return math.NaN()
			}
			return falling(x)
		}, 40, 33, 1},
		{"two bad batches, however bad", func(x float64) float64 {
			if int(x)%50 > 47 {
				return 1e9
			}
			return falling(x)
		}, 1000, 0, 0},
		{"a hill of a healthy run", func(x float64) float64 { return falling(x) * (1 + 1.5*math.Exp(-(x-60)*(x-60)/50)) }, 200, 0, 0},
		{"rises tenfold where it has no meaning", func(x float64) float64 { return 2 * math.Pow(0.5, min(x, 40)) * math.Pow(2, max(0, min(x-50, 4))) }, 100, 0, 0},
		{"comes back and rises again", func(x float64) float64 {
			if k := int(x) % 100; k > 60 && k < 80 {
				return 50
			}
			return falling(x)
		}, 200, 63, 2},
		{"a likelihood that falls", func(x float64) float64 { return 10 - x }, 200, 0, 0},
		{"a likelihood that explodes", func(x float64) float64 { return 5 - min(x, 20) + math.Exp(max(0, x-60)) }, 80, 66, 1},
	} {
		got := told(losses(c.n, c.loss, nil), Divergence)
		if len(got) != c.calls || c.calls > 0 && got[0].Epoch != c.first {
			t.Errorf("%s: %v, want %d from epoch %d", c.name, got, c.calls, c.first)
		}
	}
	got := told([]event.Event{event.DivergedEvent{Epoch: 7, Reason: "the loss is\nNaN"}}, Divergence)
	if want := []Alert{{Divergence, 7, "the run has diverged: the loss is NaN"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("of an event: %v", got)
	}
}

// A loss that becomes NaN has not risen to a number.
func TestDivergenceToNaN(t *testing.T) {
	got := told(losses(40, func(x float64) float64 {
		if x > 25 {
			return math.NaN()
		}
		return falling(x)
	}, nil), Divergence)
	if len(got) != 1 || !strings.HasPrefix(got[0].Text, "the training loss is not finite any more, its best was ") {
		t.Errorf("%v", got)
	}
}

func TestDivergenceOfRMSE(t *testing.T) {
	var events []event.Event
	for i := range 40 {
		e := event.UnknownEpoch(i + 1)
		e.RMSE = event.Float(falling(float64(i)) + math.Exp(max(0, float64(i)-20)) - 1)
		events = append(events, e)
	}
	if got := told(events, Divergence); len(got) != 1 || !strings.HasPrefix(got[0].Text, "the training RMSE has risen to ") {
		t.Errorf("%v", got)
	}
}

func TestPlateau(t *testing.T) {
	for _, c := range []struct {
		name     string
		loss     func(x float64) float64
		n, every int
		epochs   int // that the run will have
		from, to int // when the first alert comes, 0: never
		calls    int
	}{
		{"falls on", func(x float64) float64 { return 2 * math.Pow(0.99, x) }, 1000, 1, 0, 0, 0, 0},
		{"falls on under noise", func(x float64) float64 { return noise(uint64(x), 0.1)(math.Pow(x, -0.5)) }, 3000, 1, 0, 0, 0, 0},
		{"flat from the start", func(x float64) float64 { return 1 }, 30, 1, 0, 20, 25, 1},
		{"flat from 200", func(x float64) float64 { return max(2*math.Pow(0.99, x), 2*math.Pow(0.99, 200)) }, 400, 1, 0, 240, 275, 1},
		{"flat from 200 under noise", func(x float64) float64 { return noise(uint64(x), 0.05)(max(math.Pow(0.99, x), math.Pow(0.99, 200))) }, 1000, 1, 0, 235, 400, 1},
		{"flat from 200, of 1000 to come", func(x float64) float64 { return max(2*math.Pow(0.99, x), 2*math.Pow(0.99, 200)) }, 500, 1, 1000, 400, 425, 1},
		{"steps down twice", func(x float64) float64 { return []float64{1, 0.5, 0.2}[min(2, int(x)/300)] }, 900, 1, 0, 20, 25, 3},
		{"told every 50 steps", func(x float64) float64 { return 1 }, 2000, 50, 0, 1000, 1100, 1},
		{"below zero, falls on", func(x float64) float64 { return -x }, 300, 1, 0, 0, 0, 0},
	} {
		events := []event.Event{event.RunEvent{ID: "a", Epochs: c.epochs}}
		for i, e := range losses(c.n, nil, c.loss) {
			if (i+1)%c.every == 0 {
				events = append(events, e)
			}
		}
		got := told(events, Plateau)
		if len(got) != c.calls || c.calls > 0 && (got[0].Epoch < c.from || got[0].Epoch > c.to) {
			t.Errorf("%s: %v, want %d, the first at %d to %d", c.name, got, c.calls, c.from, c.to)
		}
	}
}

// Plateaus are of what the run is judged by.
func TestPlateauOfTheMeasure(t *testing.T) {
	events := losses(100, falling, falling)
	for i, e := range events {
		e := e.(event.EpochEvent)
		e.TestError = 0.25
		events[i] = e
	}
	got := told(events, Plateau)
	if len(got) != 1 || !strings.HasPrefix(got[0].Text, "the test error has not improved since epoch ") {
		t.Errorf("%v", got)
	}
}

func TestOverfitting(t *testing.T) {
	turning := func(at, slope float64) func(float64) float64 {
		return func(x float64) float64 { return 0.2 + math.Exp(-x/8) + slope*max(0, x-at) }
	}
	for _, c := range []struct {
		name        string
		train, test func(float64) float64
		n           int
		from, to    int // when the alert comes, 0: never
	}{
		{"rises since 34", falling, turning(34, 0.004), 80, 36, 50},
		{"rises under noise", falling, func(x float64) float64 { return noise(uint64(x), 0.03)(turning(34, 0.004)(x)) }, 100, 36, 60},
		{"flat under noise", falling, func(x float64) float64 { return noise(uint64(x), 0.05)(turning(1e9, 0)(x)) }, 300, 0, 0},
		{"falls", falling, falling, 200, 0, 0},
		{"both rise", turning(34, 0.004), turning(34, 0.004), 80, 0, 0},
		{"long", func(x float64) float64 { return 1 / x }, func(x float64) float64 { return noise(uint64(x), 0.02)(turning(3000, 0.0001)(x)) }, 20000, 3100, 4500},
	} {
		got := told(losses(c.n, c.train, c.test), Overfitting)
		if len(got) != min(c.to, 1) || c.to > 0 && (got[0].Epoch < c.from || got[0].Epoch > c.to) {
			t.Errorf("%s: %v, want at %d to %d", c.name, got, c.from, c.to)
		}
	}
}

// Noise of five per cent an epoch, as of a small test set, is told apart from a rise and from a slow fall.
func TestNoise(t *testing.T) {
	const runs = 200
	flat, found, stuck := 0, 0, 0
	for seed := range uint64(runs) {
		a, b, c := noise(seed, 0.05), noise(seed+runs, 0.05), noise(seed+2*runs, 0.05)
		test := func(x float64) float64 { return 0.2 + math.Exp(-x/8) }
		flat += len(told(losses(300, falling, func(x float64) float64 { return a(test(x)) }), Overfitting))
		found += len(told(losses(100, falling, func(x float64) float64 { return b(test(x) + 0.002*max(0, x-34)) }), Overfitting))
		stuck += len(told(losses(300, func(x float64) float64 { return c(math.Pow(0.99, x)) }, nil), Plateau))
	}
	if flat > 6 || found != runs || stuck > 0 {
		t.Errorf("of %d runs %d flat ones overfit, %d that rise do, %d that fall do not improve", runs, flat, found, stuck)
	}
}

// A few validations of a run that tells many steps say nothing, however far apart these are.
func TestFewValidationsDoNotOverfit(t *testing.T) {
	var events []event.Event
	for i, e := range losses(600, falling, func(x float64) float64 { return 0.5 + x/1000 }) {
		e := e.(event.EpochEvent)
		if i%150 != 0 {
			e.TestLoss = event.Absent
		}
		events = append(events, e)
	}
	if got := told(events, Overfitting); got != nil {
		t.Errorf("%v", got)
	}
}

func TestEnd(t *testing.T) {
	w := New(Rules{Kinds: []Kind{End}})
	var got []Alert
	see := func(e event.Event) { got = append(got, w.See(e)...) }
	see(event.RunEvent{ID: "a"})
	see(event.UnknownEpoch(3))
	see(event.DoneEvent{Reason: event.ReasonFailed, Message: "disk\n\x1b\u009bfull"})
	see(event.DoneEvent{Reason: event.ReasonFailed})
	see(event.ResumeEvent{Epoch: 3})
	see(event.UnknownEpoch(4))
	got = append(got, w.End("its writer is gone")...)
	got = append(got, w.End("its writer is gone")...)
	see(event.RunEvent{ID: "b"})
	see(event.DoneEvent{Reason: event.ReasonEpochs})
	want := []Alert{{End, 3, "the run is over: failed, disk full"}, {End, 4, "its writer is gone"}, {End, 0, "the run is over: all epochs done"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What was seen before a way back does not count.
func TestRewind(t *testing.T) {
	w := New(All())
	var got []Alert
	for _, e := range losses(80, falling, func(x float64) float64 { return 0.2 + math.Exp(-x/8) + 0.004*max(0, x-34) }) {
		got = append(got, w.See(e)...)
	}
	got = append(got, w.See(event.RewindEvent{Epoch: 80, To: 20})...)
	for _, e := range losses(35, falling, falling)[20:] {
		got = append(got, w.See(e)...)
	}
	if len(got) != 2 || got[0].Kind != Overfitting && got[1].Kind != Overfitting {
		t.Errorf("%v, want overfitting and a plateau of the test loss", got)
	}
}

func TestCurveIsBounded(t *testing.T) {
	var c curve
	n, sum := 0, 0.0
	for i := range 100_000 {
		c.add(float64(i), 1)
		if len(c.Bins) > maxBins {
			t.Fatal("too many bins")
		}
	}
	for i, b := range c.Bins {
		n, sum = n+b.N, sum+b.Sum
		if i > 0 && b.X <= c.Bins[i-1].X {
			t.Fatalf("bin %d is not after the one before", i)
		}
	}
	if n != 100_000 || sum != 100_000 || c.Bins[len(c.Bins)-1].X != 99_999 || len(c.Bins) < maxBins/2 {
		t.Errorf("%d values of sum %g in %d bins", n, sum, len(c.Bins))
	}
}

func TestParseRules(t *testing.T) {
	for _, test := range []struct {
		text string
		want Rules
		err  string
	}{
		{"NaN, end", Rules{Kinds: []Kind{NaN, End}}, ""},
		{" ", All(), ""},
		{"quiet", Rules{Kinds: []Kind{Quiet}}, ""},
		{"quiet=5m,nan", Rules{Kinds: []Kind{Quiet, NaN}, Quiet: 5 * time.Minute}, ""},
		{"val_loss<0.1 and epoch>5, end", Rules{Kinds: []Kind{End}, Conditions: []string{"val_loss<0.1 and epoch>5"}}, ""},
		{"nan,fire", Rules{}, `"fire": expected some of nan, divergence, plateau, overfitting, end, quiet, quiet=5m, or a condition, as val_loss<0.1`},
		{"quiet=soon", Rules{}, `"quiet=soon": expected a time, as quiet=5m`},
		{"nan=5m", Rules{}, `"nan=5m": expected some of`},
	} {
		got, err := ParseRules(test.text)
		if test.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("%q: %v", test.text, err)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: %+v, %v", test.text, got, err)
		}
	}
}

// TestConditions calls when a condition is met, and again only after it was not.
func TestConditions(t *testing.T) {
	w := New(Rules{Conditions: []string{"loss<0.5", "loss>9 or epoch>=4"}})
	var got []Alert
	for i, loss := range []float64{1, 0.4, 0.3, 0.6, 0.2, 0.1} {
		e := event.UnknownEpoch(i)
		e.Loss = event.Float(loss)
		got = append(got, w.See(e)...)
	}
	want := []Alert{{Condition, 1, "loss < 0.5 at epoch 1"}, {Condition, 4, "loss < 0.5 at epoch 4"},
		{Condition, 4, "loss > 9 or epoch >= 4 at epoch 4"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestQuiet calls for a run that hangs, by the clock that it is told.
func TestQuiet(t *testing.T) {
	s := time.Second
	for _, test := range []struct {
		name  string
		said  time.Duration
		news  []time.Duration // since the watch began
		over  time.Duration   // when the run ends; 0: it does not
		until time.Duration   // how long is asked, each second
		want  []time.Duration // when it is quiet
	}{
		{"a minute at least", 0, []time.Duration{1 * s, 2 * s, 3 * s, 4 * s}, 0, 200 * s, []time.Duration{64 * s}},
		{"ten times the usual", 0, []time.Duration{0, 20 * s, 40 * s, 60 * s, 80 * s}, 0, 500 * s, []time.Duration{280 * s}},
		{"its pace is unknown", 0, []time.Duration{1 * s, 2 * s}, 0, 1000 * s, nil},
		{"as said", 30 * s, []time.Duration{1 * s, 2 * s}, 0, 100 * s, []time.Duration{32 * s}},
		{"never a word", 30 * s, nil, 0, 100 * s, []time.Duration{30 * s}},
		{"over", 30 * s, []time.Duration{1 * s}, 5 * s, 100 * s, nil},
		{"a pause as before", 0, []time.Duration{1 * s, 2 * s, 3 * s, 4 * s, 54 * s, 55 * s, 56 * s}, 0, 156 * s, []time.Duration{156 * s}},
		{"again after news", 0, []time.Duration{1 * s, 2 * s, 3 * s, 4 * s, 84 * s}, 0, 300 * s, []time.Duration{64 * s, 292 * s}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := New(Rules{Kinds: []Kind{Quiet}, Quiet: test.said})
			began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			var got []time.Duration
			for at := time.Duration(0); at <= test.until; at += s {
				if slices.Contains(test.news, at) {
					w.See(event.UnknownEpoch(int(at / s)))
					w.Heard(began.Add(at))
				}
				if test.over > 0 && at == test.over {
					w.See(event.UnknownDone())
				}
				for _, a := range w.Ask(began.Add(at)) {
					if a.Kind != Quiet || !strings.HasPrefix(a.Text, "no news for ") {
						t.Errorf("%+v", a)
					}
					got = append(got, at)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("quiet at %v, want %v", got, test.want)
			}
		})
	}
}

// FuzzWatch feeds numbers of all sorts and orders: nothing panics, and what is told stands in one line.
func FuzzWatch(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 250, 251, 252, 4, 5}, uint8(1))
	f.Add([]byte("a long enough row of bytes to have a median, and a few means as well"), uint8(200))
	values := []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0}
	f.Fuzz(func(t *testing.T, text []byte, step uint8) {
		w, epoch := New(All()), 0
		for i, c := range text {
			v := float64(c) - 100
			if int(c) >= 250 {
				v = values[c-250]
			}
			epoch += int(int8(step))
			e := event.UnknownEpoch(epoch)
			*event.Quantity(i % 6).Of(&e) = event.ValueOf(v)
			if i%2 == 0 {
				e.Loss = event.ValueOf(-v)
			}
			for _, a := range w.See(e) {
				if a.Text == "" || strings.ContainsAny(a.Text, "\r\n") {
					t.Fatalf("%q", a.Text)
				}
			}
		}
	})
}

func BenchmarkSee(b *testing.B) {
	for _, figures := range []int{2, 200} {
		b.Run(fmt.Sprintf("figures=%d", figures), func(b *testing.B) { benchmarkSee(b, figures) })
	}
}

func benchmarkSee(b *testing.B, figures int) {
	w := New(All())
	e := event.UnknownEpoch(0)
	for i := range figures {
		e.Metrics = append(e.Metrics, event.Metric{Key: fmt.Sprint("metric", i), Value: 1})
	}
	b.ReportAllocs()
	for i := range b.N {
		e.Epoch, e.Loss, e.TestLoss, e.Error, e.TestError = i, 1/event.Float(i+1), 1/event.Float(i+1), 0.1, 0.2
		var boxed event.Event = e
		w.See(boxed)
	}
}
