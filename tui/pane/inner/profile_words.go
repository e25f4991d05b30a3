package inner

import (
	"math"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/pane"
	"newtop/tui/style"
)

// profileText derives from the numbers what the model promised, what came, and where they part.
func profileText(v *pane.View, e *event.SliceEvent) string {
	k := chosenModel(e)
	promised, got, ok := alongStep(e, k.y, 1)
	if !ok {
		return "the loss at the end of the step is not finite"
	}
	var b strings.Builder
	b.WriteString("predicted " + signed(promised) + ", got " + signed(got))
	switch rho, whole := float64(e.Rho), got/promised; {
	case format.Finite(rho) && format.Finite(whole) && math.Abs(whole-rho) > 0.05*math.Max(1, math.Abs(rho)):
		b.WriteString(": " + v.Glyphs.Rho + " " + format.Short(whole) + " over all rows, " + format.Short(rho) +
			" over those of the step")
	case format.Finite(rho):
		b.WriteString(": " + v.Glyphs.Rho + " " + format.Short(rho))
	}
	if !e.Accepted {
		b.WriteString(", rejected")
	}
	b.WriteString("; " + parting(e, k))
	return b.String()
}

// chosenModel is the one that ρ compares with: that whose promise gives ρ, by the numbers.
func chosenModel(e *event.SliceEvent) profileCurve {
	curves := profileCurves(e)
	off := func(k profileCurve) float64 {
		promised, got, ok := alongStep(e, k.y, 1)
		if !ok || promised == 0 {
			return math.Inf(1)
		}
		return math.Abs(got/promised - float64(e.Rho))
	}
	if off(curves[0]) < off(curves[1]) {
		return curves[0]
	}
	return curves[1]
}

// alongStep returns a model and the loss at a multiple of the step that was looked at.
func alongStep(e *event.SliceEvent, model []event.Float, t float64) (promised, got float64, ok bool) {
	for i := range min(len(e.At), len(e.Loss), len(model)) {
		if math.Abs(float64(e.At[i])-t) < 1e-9 {
			promised, got = float64(model[i]), float64(e.Loss[i])
			return promised, got, format.Finite(promised) && format.Finite(got)
		}
	}
	return 0, 0, false
}

// parts is where a model is first off by more than a tenth of what is at stake along the step, and which way.
func (k profileCurve) parts(e *event.SliceEvent) (t float64, above, ok bool) {
	scale := 0.0
	for i := range min(len(e.At), len(e.Loss), len(k.y)) {
		if t := float64(e.At[i]); t >= 0 && t <= 1 {
			for _, y := range [2]float64{float64(e.Loss[i]), float64(k.y[i])} {
				if format.Finite(y) {
					scale = math.Max(scale, math.Abs(y))
				}
			}
		}
	}
	for i := range min(len(e.At), len(e.Loss), len(k.y)) {
		t, d := float64(e.At[i]), float64(e.Loss[i])-float64(k.y[i])
		if t > 0 && (math.Abs(d) > scale/10 || !format.Finite(d)) {
			return t, d > 0 || math.IsNaN(d), true
		}
	}
	return 0, false, false
}

// parting says where the loss leaves the model, and what the loss does instead.
func parting(e *event.SliceEvent, k profileCurve) string {
	t, above, ok := k.parts(e)
	low, lowest := 0.0, 0.0
	for i := range min(len(e.At), len(e.Loss)) {
		if y := float64(e.Loss[i]); format.Finite(y) && y < lowest {
			low, lowest = float64(e.At[i]), y
		}
	}
	best := ""
	switch {
	case lowest == 0:
		best = "; nowhere along it does the loss fall"
	case low < 1-1e-9:
		best = "; the loss falls most, by " + format.Number(-lowest) + ", at t = " + format.Tick(format.Round(low, 2))
	case low > 1+1e-9:
		best = "; a longer step would pay: at t = " + format.Tick(format.Round(low, 2)) + " the loss falls by " +
			format.Number(-lowest)
	}
	switch {
	case !ok:
		return "the model holds as far as was looked" + best
	case t > 1+1e-9:
		return "the model holds along the whole step" + best
	case above:
		return "the loss bends up past t = " + format.Tick(format.Round(t, 2)) + ", the model does not see it" +
			other(e, k, t) + best
	}
	return "past t = " + format.Tick(format.Round(t, 2)) + " the loss falls faster than the model" + other(e, k, t) +
		best
}

// other says so if the model that was not used holds further.
func other(e *event.SliceEvent, used profileCurve, t float64) string {
	curves := profileCurves(e)
	for _, k := range curves[:2] {
		if k.letter == used.letter || !k.reported() {
			continue
		}
		if further, _, ok := k.parts(e); !ok || further > 1+1e-9 {
			return " (the " + k.name + " model holds)"
		} else if further > t+1e-9 {
			return " (the " + k.name + " model holds up to t = " + format.Tick(format.Round(further, 2)) + ")"
		}
	}
	return ""
}

// clauses wraps as many whole clauses of a sentence as n rows hold, and the beginning of one that is too long.
func clauses(s string, w, n int) []string {
	rows := style.Wrapped(s, w)
	for len(rows) > n {
		end := strings.LastIndex(s, "; ")
		if end < 0 {
			return rows[:n]
		}
		s = s[:end]
		rows = style.Wrapped(s, w)
	}
	return rows
}

// signed writes a change with its sign.
func signed(y float64) string {
	switch {
	case y < 0:
		return "−" + format.Number(-y)
	case y > 0:
		return "+" + format.Number(y)
	}
	return format.Number(y)
}
