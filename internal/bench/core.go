package bench

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// MostThreads bounds Options.Threads.
const MostThreads = 1024

// Options say how much to measure. The zero value works.
type Options struct {
	// Threads is how many threads compute where more than one do; 0: GOMAXPROCS, at most MostThreads.
	Threads int
	// Quick leaves out the larger sizes and what is slow, and has a smaller default Budget.
	Quick bool
	// Budget is how long measuring takes, about; every measurement is repeated three times at least, with
	// Quick once. 0: 24 s, with Quick 4.5 s.
	Budget time.Duration
	// Rows is how many rows the letter problem has, 8 at least; 0: 16,000, what the goals are for.
	Rows int
	// Progress is told what is measured next; nil: nobody is.
	Progress func(what string)
}

func (o *Options) fill() {
	if o.Threads < 0 || o.Threads > MostThreads {
		panic(fmt.Sprintf("bench: %d threads", o.Threads))
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Budget == 0 {
		o.Budget = 24 * time.Second
		if o.Quick {
			o.Budget = 4500 * time.Millisecond
		}
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Rows == 0 {
		o.Rows = letterRows
	}
}

// Core is what the core reaches.
type Core struct {
	Machine   Machine    `json:"machine"`
	Products  []Product  `json:"matrix_products"`
	Functions []Function `json:"vector_functions"`
	Letter    []Letter   `json:"letter"`
	Scaling   []Scaling  `json:"scaling"`
	Epochs    []Epoch    `json:"first_order"`
	Seconds   float64    `json:"seconds"` // that it took to measure all this
}

// MeasureCore measures everything. It returns the context's error if that ends first.
func MeasureCore(ctx context.Context, o Options) (*Core, error) {
	o.fill()
	start := time.Now()
	c := &Core{Machine: Here(o.Threads)}
	watch := &clock{ctx: ctx, least: 3}
	if o.Quick {
		watch.least = 1
	}
	share := func(percent int) time.Duration { return o.Budget * time.Duration(percent) / 100 }
	for _, part := range []struct {
		what    string
		measure func()
	}{
		{"FMA peak", func() { c.Machine.measurePeaks(share(4)) }},
		{"matrix products", func() { c.Products = measureProducts(watch, share(14), &c.Machine, o.Quick) }},
		{"vector functions", func() { c.Functions = measureFunctions(watch, share(12)) }},
		{"letter net", func() { c.Letter = measureLetter(watch, share(34), &o) }},
		{"scaling", func() { c.Scaling = measureScaling(watch, share(24), &o) }},
		{"first-order epochs", func() { c.Epochs = measureEpochs(watch, share(12), &o) }},
	} {
		if ctx.Err() == nil {
			o.Progress(part.what)
			part.measure()
			runtime.GC() // now rather than in the next part
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.Seconds = time.Since(start).Seconds()
	return c, nil
}
