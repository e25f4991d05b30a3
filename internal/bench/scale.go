package bench

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"newtop/models/reduce"
)

// ScaleOptions say what to measure and to suppose. The zero value works.
type ScaleOptions struct {
	// Threads is how many each process has; 0: GOMAXPROCS ÷ Local, at least 1, at most MostThreads.
	Threads int
	// Local is how many of the processes are on this machine; 0: 1.
	Local int
	// Quick leaves out the largest sizes, and has a smaller default Budget.
	Quick bool
	// Budget is how long measuring takes, about. 0: 40 s, with Quick 5 s.
	Budget time.Duration
	// Assumed is what predictions suppose; zero fields have the values of DefaultAssumed.
	Assumed Assumed
	// Progress is told in process 0 what is measured next; nil: nobody is.
	Progress func(what string)
}

// Assumed are machines and a network that nobody measured.
type Assumed struct {
	FLOPS     float64 `json:"flops"`           // of a machine, operations/s
	Latency   float64 `json:"latency_seconds"` // of a message
	Bandwidth float64 `json:"bandwidth_bytes"` // of each machine's link in each direction, bytes/s
}

// DefaultAssumed are machines of 1 Tflop/s on 10-gigabit Ethernet with TCP.
func DefaultAssumed() Assumed { return Assumed{FLOPS: 1e12, Latency: 25e-6, Bandwidth: 1.25e9} }

func (o *ScaleOptions) fill() {
	if o.Threads < 0 || o.Threads > MostThreads {
		panic(fmt.Sprintf("bench: %d threads", o.Threads))
	}
	if o.Threads == 0 {
		o.Threads = min(MostThreads, max(1, runtime.GOMAXPROCS(0)/max(1, o.Local)))
	}
	if o.Budget == 0 {
		o.Budget = 40 * time.Second
		if o.Quick {
			o.Budget = 5 * time.Second
		}
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	a, d := &o.Assumed, DefaultAssumed()
	for _, f := range []struct {
		is   *float64
		zero float64
	}{{&a.FLOPS, d.FLOPS}, {&a.Latency, d.Latency}, {&a.Bandwidth, d.Bandwidth}} {
		if *f.is == 0 {
			*f.is = f.zero
		}
	}
}

// least is how often a product is measured, whatever the budget.
func (o *ScaleOptions) least() int {
	if o.Quick {
		return 1
	}
	return 3
}

// Scale is how training over several machines scales: what was measured, a model fitted to that, and what it predicts.
type Scale struct {
	Machine   Machine       `json:"machine"`
	Ranks     int           `json:"ranks"`
	Hosts     []string      `json:"hosts"` // of each rank
	Library   string        `json:"library"`
	Exchanges []Exchange    `json:"measured_exchanges"`
	Products  []TeamProduct `json:"measured_products"`
	// Fitted is the model of the processes that were measured, by least squares on the logarithms of the best times. Misfit is the
	// root mean square of log(model ÷ measured).
	Fitted      Model        `json:"fitted"`
	Speeds      []Speed      `json:"fitted_speeds"`
	Misfit      float64      `json:"misfit"`
	Assumed     Assumed      `json:"assumed"`
	Predictions []Prediction `json:"predicted"`
	Gains       []Gain       `json:"predicted_gains"`
	Pays        []Pays       `json:"predicted_pays"`
	Seconds     float64      `json:"seconds"` // that it took to measure all this
}

// Speed is how long a process takes for an operation of one net: 1/F of the model.
type Speed struct {
	Net       string  `json:"net"`
	Operation float64 `json:"operation_seconds"`
}

// NewScale fits the model to what was measured with so many processes, and predicts.
func NewScale(ranks int, exchanges []Exchange, products []TeamProduct, o ScaleOptions) *Scale {
	o.fill()
	s := &Scale{Machine: machine(o.Threads), Ranks: ranks, Exchanges: exchanges, Products: products, Assumed: o.Assumed}
	s.fit(o.Threads)
	s.predict()
	return s
}

// fit fits the model to all exchanges, and to the products of processes with so many threads. There are two nets at most.
func (s *Scale) fit(threads int) {
	var list []observation
	var fitted []func(seconds float64)
	for i := range s.Exchanges {
		x := &s.Exchanges[i]
		list = append(list, x.observation(s.Ranks))
		fitted = append(fitted, func(seconds float64) { x.FittedUS = seconds * 1e6 })
	}
	for i := range s.Products {
		p := &s.Products[i]
		second := 0
		if p.Net != s.Products[0].Net {
			second = 1
		}
		for j := range p.Setups {
			setup := &p.Setups[j]
			setup.FittedMS = nil
			if setup.Threads != threads {
				continue
			}
			c := p.product()
			c.second = second
			o := c.taken(setup.Ranks, InOrder)
			o.seconds = setup.BestMS / 1e3
			list = append(list, o)
			fitted = append(fitted, func(seconds float64) { ms := seconds * 1e3; setup.FittedMS = &ms })
		}
	}
	prices := fitPrices(list, cost{1e-10, 1e-10, 1e-9, 1e-6, 1e-10, 1e-10, 1e-10, 1e-10})
	for i := range list {
		fitted[i](list[i].at(&prices).seconds(&prices))
	}
	s.Fitted = modelOf(prices)
	for i := range s.Products {
		if net := s.Products[i].Net; len(s.Speeds) == 0 || s.Speeds[len(s.Speeds)-1].Net != net {
			s.Speeds = append(s.Speeds, Speed{net, prices[operations+len(s.Speeds)]})
		}
	}
	s.Misfit = math.Sqrt(misfit(list, &prices) / float64(len(list)))
}

func (p *TeamProduct) product() *product {
	return &product{n: p.Weights, rows: p.Rows, perRow: p.PerRow}
}

// Prediction is a product with machines that nobody measured, newtop's, and what it would be if an all-reduce were all that is
// waited for. Efficiencies are of the rows that a machine takes on in a second, beside one machine with all rows or, where the
// rows grow with the machines, with its own.
type Prediction struct {
	Weights    int              `json:"weights"`
	Rows       int              `json:"rows"` // of all machines together
	Weak       bool             `json:"weak"` // whether the rows grow with the machines
	Machines   int              `json:"machines"`
	Busiest    float64          `json:"busiest"` // share of the rows of the machine with the most, times machines
	Reductions []PredictedSpeed `json:"reductions"`
}

// PredictedSpeed is what a product takes with one reduction.
type PredictedSpeed struct {
	Reduction  Reduction `json:"reduction"`
	Seconds    float64   `json:"seconds"`
	Efficiency float64   `json:"efficiency"`
}

// Gain is the most that a problem of this size can gain from machines like this one, with all of its threads, on the assumed
// network: of any power of two of them, up to one for each leaf of the tree.
type Gain struct {
	Net      string  `json:"net"`
	Weights  int     `json:"weights"`
	Rows     int     `json:"rows"`
	OneMS    float64 `json:"one_machine_ms"` // measured
	Machines int     `json:"machines"`
	MS       float64 `json:"ms"`
	Gain     float64 `json:"gain"`
	Two      float64 `json:"two_machines_gain"`
}

// Pays is from how many training rows on two machines are worth it: at all, and as two machines that are Worth as fast as one.
type Pays struct {
	Weights int     `json:"weights"`
	FLOPS   float64 `json:"flops"` // of a machine
	AtAll   float64 `json:"rows_at_all"`
	Well    float64 `json:"rows_well"`
}

// Worth is how many times as fast as one two machines are that are worth it.
const Worth = 1.8

// operationsAWeight is what a product takes for each weight and row: 10.2 of 16-70-50-26, towards 12 the wider the hidden layers.
const operationsAWeight = 10

// supposed is the fitted model with the assumed machines and network.
func (s *Scale) supposed(flops float64) Model {
	m := s.Fitted
	m.Operation, m.Latency, m.Byte, m.LongByte = 1/flops, s.Assumed.Latency, 1/s.Assumed.Bandwidth, 0
	return m
}

func (s *Scale) predict() {
	const n = 1_000_000
	for _, c := range []struct {
		rows int
		weak bool
	}{{1_000_000_000, false}, {1_000_000, false}, {1_000_000, true}} {
		for _, machines := range []int{10, 100, 1000, 1024} {
			rows := c.rows
			if c.weak {
				rows *= machines
			}
			s.Predictions = append(s.Predictions, s.prediction(n, rows, machines, c.weak))
		}
	}
	here := 0.0
	for i := range s.Products {
		flops, gain := s.gain(&s.Products[i])
		here = max(here, flops)
		s.Gains = append(s.Gains, gain)
	}
	for _, flops := range []float64{here, s.Assumed.FLOPS} {
		m := s.supposed(flops)
		for _, n := range []int{1000, 10_000, 100_000, 1_000_000, 10_000_000} {
			c := &product{n: n, perRow: operationsAWeight * float64(n)}
			s.Pays = append(s.Pays, Pays{Weights: n, FLOPS: flops, AtAll: c.pays(1, &m), Well: c.pays(Worth, &m)})
		}
	}
}

func (s *Scale) prediction(n, rows, machines int, weak bool) Prediction {
	m := s.supposed(s.Assumed.FLOPS)
	c := &product{n: n, rows: rows, perRow: operationsAWeight * float64(n)}
	one := *c
	if weak {
		one.rows = rows / machines
	}
	alone := one.seconds(1, InOrder, &m)
	if !weak {
		alone /= float64(machines)
	}
	p := Prediction{Weights: n, Rows: rows, Weak: weak, Machines: machines,
		Busiest: float64(shareOut(rows, machines).rows) / float64(rows) * float64(machines)}
	for _, how := range []Reduction{InOrder, AnyOrder, AllReduce} {
		seconds := c.seconds(machines, how, &m)
		p.Reductions = append(p.Reductions, PredictedSpeed{how, seconds, alone / seconds})
	}
	return p
}

// gain returns what machines like this one gain, and how many operations a second that one does.
func (s *Scale) gain(p *TeamProduct) (flops float64, g Gain) {
	g = Gain{Net: p.Net, Weights: p.Weights, Rows: p.Rows, Machines: 1, Gain: 1, OneMS: math.Inf(1)}
	for i := range p.Setups {
		if p.Setups[i].Ranks == 1 {
			g.OneMS = min(g.OneMS, p.Setups[i].BestMS)
		}
	}
	g.MS = g.OneMS
	c := p.product()
	total := c.perRow * float64(c.rows)
	flops = total / (g.OneMS / 1e3)
	m := s.supposed(flops)
	m.Operation = max(0, g.OneMS/1e3-m.Weight*float64(c.n)) / total // so that one machine takes what it took
	for machines := 2; machines <= reduce.NewTree(p.Rows).Leaves(); machines *= 2 {
		ms := c.seconds(machines, InOrder, &m) * 1e3
		if machines == 2 {
			g.Two = g.OneMS / ms
		}
		if ms < g.MS {
			g.Machines, g.MS, g.Gain = machines, ms, g.OneMS/ms
		}
	}
	return flops, g
}
