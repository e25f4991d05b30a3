package datasets

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

const (
	recipesRows = 1302
	recipesTest = 302
	bands       = 16 // wavelengths from 400 to 700 nm
)

// wavelength returns the wavelength of a band in nm.
func wavelength(band int) float64 { return 400 + 20*float64(band) }

// loadRecipes makes the colour-recipe problem of E. Mizutani and J. W. Demmel, "Iterative scaled trust-region
// learning in Krylov subspaces via Pearlmutter's implicit sparse Hessian-vector multiply", NIPS 16, 2003, whose
// data are not public: find the amounts of ten colorants from the reflectances of their mixture at 16
// wavelengths. The hue angle, by which the paper's gates tell the experts apart, is a feature.
func loadRecipes(o Options) (*Dataset, error) {
	return recipesDrawn("recipes", "colour recipes, ten colorants from 16 reflectances", drawRecipe, o)
}

// loadRecipesNear makes the same of recipes as colourists write them: colorants that lie beside each other on the
// circle of hues, and white and black. So a hue reports which colorants there are, and experts for regions of hue have
// less to learn.
func loadRecipesNear(o Options) (*Dataset, error) {
	return recipesDrawn("recipes-near", "colour recipes of colorants near in hue", drawNear, o)
}

// recipesDrawn makes recipes that are drawn one by one.
func recipesDrawn(name, title string, draw func(amounts []float64, rng *rand.Rand), o Options) (*Dataset, error) {
	rows, test, err := o.generated(recipesRows, 2, 1_000_000,
		func(rows int) int { return max(rows*recipesTest/recipesRows, 1) })
	if err != nil {
		return nil, err
	}
	colorants := newColorants()
	t := table{
		inputs:   mat.NewDense(rows, bands, nil),
		targets:  mat.NewDense(rows, len(colorants), nil),
		features: mat.NewDense(rows, 1, nil),
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	for i := range rows {
		draw(t.targets.RawRowView(i), rng)
		r := t.inputs.RawRowView(i)
		mixTo(r, colorants, t.targets.RawRowView(i))
		t.features.Set(i, 0, hueOf(r))
	}
	d := &Dataset{Name: name, TargetScaling: unscaled(len(colorants)), Features: []Feature{{Name: "hue", Period: 360}},
		Title: title}
	for b := range bands {
		d.InputNames = append(d.InputNames, fmt.Sprintf("%g nm", wavelength(b)))
	}
	for _, c := range colorants {
		d.TargetNames = append(d.TargetNames, c.name)
	}
	if err := d.split(&t, test, &o, ""); err != nil {
		return nil, err
	}
	d.finish(standard(d.Train.Inputs, nil))
	return d, nil
}

// drawRecipe stores in amounts two to four colorants.
func drawRecipe(amounts []float64, rng *rand.Rand) {
	count := 2 + rng.IntN(3)
	shareOut(amounts, rng.Perm(len(amounts))[:count], rng)
}

// drawNear stores in amounts one colorant that has a hue, or two neighbours, and white, black or both.
func drawNear(amounts []float64, rng *rand.Rand) {
	const white, black, first = 0, 1, 2 // the others are in the order of their hues
	hues := len(amounts) - first
	hue := rng.IntN(hues)
	chosen := []int{first + hue}
	if rng.IntN(2) == 0 {
		chosen = append(chosen, first+(hue+1)%hues)
	}
	chosen = append(chosen, [][]int{{white}, {black}, {white, black}}[rng.IntN(3)]...)
	shareOut(amounts, chosen, rng)
}

// shareOut gives the chosen colorants a twentieth at least, and a sum of 1 that is divided evenly over all ways to
// divide it.
func shareOut(amounts []float64, chosen []int, rng *rand.Rand) {
	const least = 0.05
	sum := 0.0
	for _, c := range chosen {
		amounts[c] = rng.ExpFloat64()
		sum += amounts[c]
	}
	for _, c := range chosen {
		amounts[c] = least + (1-least*float64(len(chosen)))*amounts[c]/sum
	}
}

// colorant is what a pigment does to light, at each band: it absorbs k and scatters s per unit of thickness.
// Only their ratios matter, so the unit is what white scatters.
type colorant struct {
	name string
	k, s [bands]float64
}

// newColorants makes up ten colorants after the kinds of spectra that pigments have: an edge below which
// everything is absorbed (yellow to red), bands (magenta to green), and the two that are nearly flat. Their
// strengths are such that none of them hides what it is mixed with, and that a 16-82-10 net gets to the paper's
// training RMSE of 0.002 in about as many epochs as there (tr-gn-jacobi with limit=0: 109, the paper's 133).
func newColorants() []colorant {
	edge := func(k, at, width float64) func(float64) float64 {
		return func(nm float64) float64 { return k / (1 + math.Exp((nm-at)/width)) }
	}
	band := func(k, at, width float64) func(float64) float64 {
		return func(nm float64) float64 { d := (nm - at) / width; return k * math.Exp(-d*d/2) }
	}
	pigment := func(name string, scatter, slope, floor float64, absorbs ...func(nm float64) float64) colorant {
		c := colorant{name: name}
		for b := range bands {
			nm := wavelength(b)
			c.s[b] = scatter * math.Pow(nm/550, slope)
			c.k[b] = floor
			for _, a := range absorbs {
				c.k[b] += a(nm)
			}
		}
		return c
	}
	return []colorant{
		pigment("white", 1, -0.3, 0.004, edge(0.3, 400, 8)),
		pigment("black", 0.50, 0.5, 0.8, edge(0.2, 520, 60)),
		pigment("yellow", 0.80, 0.4, 0.01, edge(0.9, 490, 10)),
		pigment("orange", 0.75, 0.5, 0.015, edge(0.85, 540, 12)),
		pigment("red", 0.70, 0.6, 0.02, edge(0.8, 592, 11), band(0.3, 500, 30)),
		pigment("magenta", 0.70, 0.2, 0.03, band(0.9, 535, 32), band(0.2, 400, 30)),
		pigment("violet", 0.65, -0.4, 0.03, band(0.9, 575, 38), band(0.15, 500, 30)),
		pigment("blue", 0.65, -0.6, 0.03, band(1.0, 625, 50), band(0.1, 400, 20)),
		pigment("turquoise", 0.70, -0.4, 0.02, band(0.9, 670, 42), band(0.15, 420, 25)),
		pigment("green", 0.70, -0.2, 0.04, band(0.9, 425, 33), band(0.8, 645, 38)),
	}
}

// mixTo stores in r the reflectances of a layer too thick to see through, by the two constants of P. Kubelka
// and F. Munk, "Ein Beitrag zur Optik der Farbanstriche", Zeitschrift für technische Physik 12, 1931, for
// mixtures after D. R. Duncan, "The colour of pigment mixtures", Proceedings of the Physical Society 52, 1940:
//
//	K = Σ_i c_i K_i,  S = Σ_i c_i S_i,  R = 1 + K/S − √((K/S)² + 2K/S)
func mixTo(r []float64, colorants []colorant, amounts []float64) {
	for b := range r {
		k, s := 0.0, 0.0
		for i, c := range amounts {
			k += c * colorants[i].k[b]
			s += c * colorants[i].s[b]
		}
		q := k / s
		r[b] = 1 / (1 + q + math.Sqrt(q*(q+2))) // the same without cancellation
	}
}
