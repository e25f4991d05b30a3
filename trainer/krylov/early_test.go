package krylov

import (
	"errors"
	"fmt"
	"testing"
)

// ended is what all processes say of their end.
type ended struct {
	stop     Stop
	products int
	whole    string // all that was found; empty if nothing
	err      error
}

// processes are those of this package that make something of products alone.
func processes() map[string]func(h Operator, seed uint64, monitor func(int) error) ended {
	lanczos := func(k int, o LanczosOptions) func(h Operator, seed uint64, monitor func(int) error) ended {
		return func(h Operator, seed uint64, monitor func(int) error) ended {
			o := o
			o.Seed, o.Monitor = seed, monitor
			got, err := Lanczos(h, k, o)
			if got.Top == nil && got.Bottom == nil {
				return ended{got.Stop, got.Products, "", err}
			}
			return ended{got.Stop, got.Products, fmt.Sprint(got), err}
		}
	}
	return map[string]func(h Operator, seed uint64, monitor func(int) error) ended{
		"Lanczos":   lanczos(3, LanczosOptions{Tolerance: 1e-12}),
		"restarted": lanczos(2, LanczosOptions{Basis: 8, Steps: 60}),
		"power iteration": func(h Operator, seed uint64, monitor func(int) error) ended {
			got, err := Power(h, 2, PowerOptions{Seed: seed, Monitor: monitor})
			if got.Pairs == nil {
				return ended{got.Stop, got.Products, "", err}
			}
			return ended{got.Stop, got.Products, fmt.Sprint(got), err}
		},
		"density": func(h Operator, seed uint64, monitor func(int) error) ended {
			got, err := SpectralDensity(h, DensityOptions{Probes: 2, Seed: seed, Monitor: monitor})
			if got.Grid == nil {
				return ended{got.Stop, got.Products, "", err}
			}
			return ended{got.Stop, got.Products, fmt.Sprint(got), err}
		},
	}
}

// TestEarlyEnds: a seed gives the same bits again, and a product that is not finite or a monitor that has enough ends a process at
// once, with nothing found.
func TestEarlyEnds(t *testing.T) {
	enough := errors.New("enough")
	for name, run := range processes() {
		values := []float64{8, -6, 4, 2, 1}
		if name == "restarted" {
			values = steep(60)
		} else if name != "power iteration" {
			values = spread(12, 0.1, 10)
		}
		h := withEigenvalues(4, values...)
		whole := run(h, 5, nil)
		if again := run(h, 5, nil); whole.err != nil || whole.whole == "" || again.whole != whole.whole || run(h, 6, nil).whole == whole.whole {
			t.Errorf("%s: the seed decides too much or too little", name)
		}
		for at := 1; at <= whole.products; at++ {
			h.products, h.poison = 0, at
			got := run(h, 5, nil)
			// Lanczos' certificates are taken one after the other and looked at together.
			if got.err != nil || got.stop != NotFinite || got.whole != "" || got.products < at || got.products > at && name != "Lanczos" {
				t.Errorf("%s, poisoned at %d: %+v", name, at, got)
			}
			h.products, h.poison = 0, 0
			got = run(h, 5, func(products int) error {
				if products == at {
					return enough
				}
				return nil
			})
			if got.err != enough || got.stop != Interrupted || got.whole != "" || got.products != at || h.products != at {
				t.Errorf("%s, interrupted at %d: %+v", name, at, got)
			}
		}
	}
}
