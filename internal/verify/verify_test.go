package verify

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"newtop/internal/packed"
	"newtop/trainer/optim/methods"
)

// TestReferences holds all methods against what the program has of others' numbers.
func TestReferences(t *testing.T) {
	r := Embedded()
	results, err := Run(context.Background(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for i := range results {
		if x := &results[i]; x.Fault != "" {
			t.Errorf("%s, %s, %s, %s: %s", x.Method, x.Variant, x.Loss, x.Precision, x.Fault)
		}
		seen[results[i].Method] = true
	}
	for _, m := range methods.All() {
		if gap := strings.Join(r.gaps([]string{m.Name}), "\n"); !seen[m.Name] && !strings.Contains(gap, m.Name) {
			t.Errorf("%s has no reference, and nothing says so", m.Name)
		}
	}
	if size := len(packedReferences); size > 300_000 {
		t.Errorf("references of %d bytes, expected 300,000 at most", size)
	}
}

// TestWrongDigits spoils one number of the references after another: each must be found.
func TestWrongDigits(t *testing.T) {
	spoilt := func(spoil func(p *Passes, c *Case)) *References {
		r := new(References)
		if err := json.Unmarshal([]byte(packed.Text(packedReferences)), r); err != nil {
			t.Fatal(err)
		}
		for i := range r.Cases {
			if r.Cases[i].Method == "kfac" && r.Cases[i].Curvature != "" {
				r.Passes, r.Cases = r.Passes[:1], r.Cases[i:i+1]
				break
			}
		}
		spoil(&r.Passes[0], &r.Cases[0])
		return r
	}
	wrong := func(r *References) (faults []string) {
		results, err := Run(context.Background(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range results {
			if results[i].Precision == "float64" && results[i].Fault != "" {
				faults = append(faults, results[i].Fault)
			}
		}
		return faults
	}
	if faults := wrong(spoilt(func(*Passes, *Case) {})); faults != nil {
		t.Fatal(faults)
	}
	for name, spoil := range map[string]func(p *Passes, c *Case){
		"expected \"3R\"":      func(_ *Passes, c *Case) { c.Steps[1].Solves = "3R" },
		"step 1: ρ":            func(_ *Passes, c *Case) { *c.Steps[0].Rho += 1e-10 },
		"the loss":             func(p *Passes, _ *Case) { p.Values[0] *= 1 + 1e-13 },
		"eigenvalue of H":      func(p *Passes, _ *Case) { p.Values[len(p.Values)-1] *= 1 + 1e-12 },
		"step 3":               func(_ *Passes, c *Case) { c.Steps[2].Values[5] *= 1 + 1e-9 },
		"expected a number":    func(_ *Passes, c *Case) { c.Settings["damping"] = "no number" },
		"unknown optimizer":    func(_ *Passes, c *Case) { c.Method = "nothing" },
		"numbers, expected 28": func(p *Passes, _ *Case) { p.Values = p.Values[:28] },
	} {
		if faults := wrong(spoilt(spoil)); len(faults) != 1 || !strings.Contains(faults[0], name) {
			t.Errorf("%s: found %q", name, faults)
		}
	}
}
