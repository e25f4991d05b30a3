package bench

import (
	"fmt"
	"runtime"
	"time"
)

// ScaleOptions say what to measure. The zero value works.
type ScaleOptions struct {
	// Threads is how many each process has; 0: GOMAXPROCS ÷ Local, at least 1, at most MostThreads.
	Threads int
	// Local is how many of the processes are on this machine; 0: 1.
	Local int
	// Quick leaves out the largest sizes, and has a smaller default Budget.
	Quick bool
	// Budget is how long measuring takes, about. 0: 40 s, with Quick 5 s.
	Budget time.Duration
	// Progress is told in process 0 what is measured next; nil: nobody is.
	Progress func(what string)
}

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
}

// least is how often a product is measured, whatever the budget.
func (o *ScaleOptions) least() int {
	if o.Quick {
		return 1
	}
	return 3
}

// Scale is what several processes wait for each other, and what their products take beside those of one.
type Scale struct {
	Machine   Machine       `json:"machine"`
	Ranks     int           `json:"ranks"`
	Hosts     []string      `json:"hosts"` // of each rank
	Library   string        `json:"library"`
	Exchanges []Exchange    `json:"measured_exchanges"`
	Products  []TeamProduct `json:"measured_products"`
	Seconds   float64       `json:"seconds"` // that it took to measure all this
}

// NewScale is about what was measured with so many processes.
func NewScale(ranks int, exchanges []Exchange, products []TeamProduct, o ScaleOptions) *Scale {
	o.fill()
	return &Scale{Machine: Here(o.Threads), Ranks: ranks, Exchanges: exchanges, Products: products}
}
