// Package probe looks at models that other programs train: while newtop watch runs a program that offers looks at its
// model (the observed mode of docs/peer.md), it computes the curvature there, within a share of the program's time.
package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strings"
	"sync"
	"time"

	"newtop/internal/format"
	"newtop/internal/routine"
	"newtop/trainer/analysis"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/peer"
)

// DefaultShare is the share of the program's time that looks may take.
const DefaultShare = 0.05

// Products of a look: how many it takes at most, how many it should have room for to be worth its time, and how many
// the first may have, which is taken whatever its share.
const (
	maxProducts   = 600
	minProducts   = 60
	firstProducts = 150
)

// A look has the program stand still for no longer than a pause, which the program may tell. One in which fewer
// products fit tells too little.
const (
	defaultPause  = time.Second
	pauseProducts = 8
)

// dialPatience is how long it may take until a program that waits comes to its next look.
const dialPatience = 10 * time.Minute

// Options say how much a Prober may ask for.
type Options struct {
	Share  float64 // of the program's time; 0: DefaultShare
	Count  int     // eigenvalues at each end; 0: 3
	Memory int64   // bytes for vectors; 0: 1 GiB
	Model  string  // how the program is called as --model, for one that serves its model

	now func() time.Time // the clock; tests have their own
}

// Prober looks at the model of one program, time and again. Its goroutine, which Start begins, ends with Close.
type Prober struct {
	o        Options
	listener *peer.Listener
	lines    *io.PipeReader // JSON lines, as trainer/stream reads them
	out      *io.PipeWriter
	cancel   context.CancelFunc
	done     chan struct{}
	start    time.Time

	mu         sync.Mutex // of what is written to out, and of said
	lastReport string
}

// Start waits for a program that Environ is the environment of.
func Start(o Options) (*Prober, error) {
	listener, err := peer.Listen(peer.Options{})
	if err != nil {
		return nil, err
	}
	p, ctx := begin(o)
	p.listener = listener
	routine.Go(func() { p.attend(ctx) })
	return p, nil
}

// Dial looks at the model of a program that waits at a path for who does (newtop.probe with listen).
func Dial(ctx context.Context, path string, o Options) (*Prober, error) {
	c, err := peer.Dial(ctx, path, peer.Options{Hello: dialPatience})
	if err != nil {
		return nil, err
	}
	if !c.Observed() {
		c.Close()
		return nil, fmt.Errorf("%s serves a model: expected newtop train --model %s%s", path, peer.SocketPrefix, path)
	}
	p, ctx := begin(o)
	routine.Go(func() {
		defer close(p.done)
		defer p.out.Close()
		defer c.Close()
		p.report(ctx, p.watch(ctx, c))
	})
	return p, nil
}

// begin returns a Prober before its goroutine, and the context that ends with it.
func begin(o Options) (*Prober, context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Prober{o: o, cancel: cancel, done: make(chan struct{})}
	if o.now == nil {
		p.o.now = time.Now
	}
	p.start = p.o.now()
	p.o.Share = cmp.Or(o.Share, DefaultShare)
	p.lines, p.out = io.Pipe()
	return p, ctx
}

// Environ returns an environment that tells the program where to offer looks.
func (p *Prober) Environ(environ []string) []string { return p.listener.Environ(environ) }

// Lines are what the looks tell: spectra, and rows of metrics whose names begin with curvature/.
func (p *Prober) Lines() io.ReadCloser { return p.lines }

// Close ends looking. A program that is being looked at continues.
func (p *Prober) Close() error {
	p.cancel()
	p.lines.Close()
	var err error
	if p.listener != nil {
		err = p.listener.Close()
	}
	<-p.done
	return err
}

// attend serves all programs that come, each by itself: a script may look at several models, and begin several
// processes.
func (p *Prober) attend(ctx context.Context) {
	defer close(p.done)
	defer p.out.Close()
	var programs sync.WaitGroup
	defer programs.Wait()
	for {
		c, err := p.listener.Accept(ctx)
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // what connected is no peer
			p.report(ctx, err)
			continue
		}
		programs.Go(routine.Guard(func() {
			defer c.Close() // which lets a program that serves its model go on
			if !c.Observed() {
				p.report(ctx, fmt.Errorf("this program serves a model: newtop --model %s", p.o.Model))
				return
			}
			p.report(ctx, p.watch(ctx, c))
		}))
	}
}

// watch looks at a model as often as it may, until the program ends it.
func (p *Prober) watch(ctx context.Context, c *peer.Client) error {
	w := watched{p: p, c: c}
	for {
		step, err := c.NextStep(ctx)
		if err != nil {
			return err
		}
		start := p.o.now()
		limit := w.products(&step)
		if limit > 0 {
			err = objective.CatchFailure(func() error { return w.analyse(ctx, &step, limit) })
			p.report(ctx, err)
		}
		if on := c.Continue(); on != nil {
			return on
		}
		took := p.o.now().Sub(start)
		w.spent += took
		if err != nil { // it may fail at its last product
			w.perProduct = max(w.perProduct, took/time.Duration(limit))
		}
	}
}

// watched is a model that is looked at.
type watched struct {
	p          *Prober
	c          *peer.Client
	model      *peer.Model
	spent      time.Duration // in looks
	perProduct time.Duration // for a product, as it was in the last look
	start      [][]float64
	w, u       []float64
}

// products returns how many the next look may take, 0 for none: the first what it needs, which its first product
// bounds, later ones what the share leaves and the pause has room for.
func (w *watched) products(step *peer.Step) int {
	if w.perProduct == 0 {
		return firstProducts
	}
	allowed := time.Duration(w.p.o.Share*float64(w.p.o.now().Sub(w.p.start))) - w.spent
	return productsIn(allowed, pauseOf(step), w.perProduct)
}

// productsIn returns how many products a look may take that has so much time by its share and by its pause, where it is
// worth its time; 0: it is not.
func productsIn(allowed, pause, perProduct time.Duration) int {
	fits := int(pause / perProduct)
	n := min(int(allowed/perProduct), fits, maxProducts)
	if n < min(minProducts, fits) || n < pauseProducts {
		return 0
	}
	return n
}

// pauseOf is how long the program may stand still at a step.
func pauseOf(step *peer.Step) time.Duration {
	if s := step.Pause; s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	return defaultPause
}

// first times a product, and returns how many the first look may take.
func (w *watched) first(ctx context.Context, l objective.Linearization, step *peer.Step, limit int) int {
	start := w.p.o.now()
	l.HessianTo(make([]float64, len(w.w)), w.w)
	took, pause := max(w.p.o.now().Sub(start), time.Microsecond), pauseOf(step)
	n := min(limit, productsIn(pause, pause, took))
	name := w.model.About().Name
	text := fmt.Sprintf("looks at %s for about %s at a time", name, format.Span((time.Duration(n) * took).Seconds()))
	if n == 0 {
		w.perProduct = took
		text = fmt.Sprintf("does not look at %s: a product takes %.1g s, and %d take more than its pause of %.1g s: "+
			"give newtop.probe a smaller batch or a longer pause", name, took.Seconds(), pauseProducts, pause.Seconds())
	}
	if n == 0 || time.Duration(n)*took > pause/10 { // else nobody notices
		w.p.report(ctx, errors.New(text))
	}
	return n
}

// analyse looks at the model at a step.
func (w *watched) analyse(ctx context.Context, step *peer.Step, limit int) error {
	began := w.p.o.now()
	if w.model == nil {
		m, err := peer.NewObserved(w.c)
		if err != nil {
			return err
		}
		w.model = m
		for _, note := range m.Notes() {
			w.p.report(ctx, errors.New(note))
		}
		w.w = make([]float64, m.Dim())
	}
	l, err := w.model.Current(w.w)
	if err != nil {
		return err
	}
	if w.perProduct == 0 {
		if limit = w.first(ctx, l, step, limit); limit == 0 {
			return nil
		}
	}
	o := analysis.ProbeOptions{
		Count: w.p.o.Count, Density: true, Rate: step.Rate, Momentum: step.Momentum, Weights: w.w,
		Blocks: layers(w.model.About()),
		Start:  w.start, Products: limit, Memory: w.p.o.Memory, Seed: 1, Poll: ctx.Err,
	}
	if math.IsNaN(o.Momentum) {
		o.Momentum = 0
	}
	if w.model.About().Can(peer.HasUpdate) {
		if w.u == nil {
			w.u = make([]float64, len(w.w))
		}
		switch err := w.c.UpdateTo(w.u); {
		case err == nil:
			o.Update = w.u
		case !errors.Is(err, peer.ErrUnsupported): // as at the first step, before which there was none
			return err
		}
	}
	e, metrics, start, err := analysis.Probe(l, o)
	if err != nil {
		return err
	}
	w.start = start
	took := w.p.o.now().Sub(began)
	w.perProduct = took / time.Duration(max(1, e.Products))
	e.Epoch, e.Selection = step.Step, "the batch"
	return w.write(step, &e, metrics, took)
}

// write writes what a look found: the spectrum, and a row of metrics with what it cost.
func (w *watched) write(step *peer.Step, e *event.SpectrumEvent, metrics []event.Metric, took time.Duration) error {
	row := map[string]any{"step": step.Step}
	if l := step.Loss; w.p.listener == nil && l != 0 && l-l == 0 { // else the program's own log has it
		row["loss"] = step.Loss
	}
	for _, f := range metrics {
		row["curvature/"+strings.TrimPrefix(f.Key, "curvature-")] = f.Value
	}
	row["curvature/products"] = e.Products
	row["curvature/seconds"] = math.Round(took.Seconds()*1e4) / 1e4
	row["curvature/share"] = math.Round(1e4*(w.spent+took).Seconds()/w.p.o.now().Sub(w.p.start).Seconds()) / 1e4
	text, err := json.Marshal(row)
	if err != nil {
		return err
	}
	if len(e.Eigenvalues) > 0 {
		spectrum, err := event.EncodeEvent(*e)
		if err != nil {
			return err
		}
		text = append(append(text, '\n'), spectrum...)
	}
	return w.p.write(text)
}

// report tells people in the console what is wrong, but for an end.
func (p *Prober) report(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil || errors.Is(err, io.EOF) {
		return
	}
	p.mu.Lock()
	again := err.Error() == p.lastReport
	p.lastReport = err.Error()
	p.mu.Unlock()
	if line, err := event.EncodeEvent(event.ConsoleEvent{Text: "newtop: " + err.Error()}); err == nil && !again {
		_ = p.write(line) // a reader that is gone wants none
	}
}

// write writes lines at once.
func (p *Prober) write(lines []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.out.Write(append(lines, '\n'))
	return err
}

// maxLayers bounds the layers that are looked at one by one.
const maxLayers = 32

// layers gathers the tensors of a layer, which the names before the last dot tell, where these lie side by side. Of
// more layers than can be looked at, whole groups of layers are taken together.
func layers(a *peer.About) []analysis.ProbeBlock {
	for depth := math.MaxInt; ; {
		var out []analysis.ProbeBlock
		from, longest := 0, 0
		for i := range a.Blocks {
			b := &a.Blocks[i]
			parts := strings.Split(b.Name, ".")
			parts = parts[:max(1, min(len(parts)-1, depth))]
			longest = max(longest, len(parts))
			name, to := strings.Join(parts, "."), from+b.Size()
			if last := len(out) - 1; last >= 0 && out[last].Name == name {
				out[last].To = to
			} else {
				out = append(out, analysis.ProbeBlock{Name: name, From: from, To: to})
			}
			from = to
		}
		if len(out) <= maxLayers || longest <= 1 {
			return out[:min(len(out), maxLayers)]
		}
		depth = longest - 1
	}
}
