package datasets

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	digitsRows = 10000
	digitSide  = 28
)

// loadDigits makes a set of the shape of MNIST without its files: digits from the Go fonts, distorted,
// as grey images with ink 1 on paper 0.
func loadDigits(o Options) (*Dataset, error) {
	rows, test, err := o.generated(digitsRows, 10, 1_000_000, fifth)
	if err != nil {
		return nil, err
	}
	t := table{inputs: mat.NewDense(rows, digitSide*digitSide, nil), labels: make([]int, rows)}
	glyphs := digitGlyphs()
	render(rows, digitSide, o.Seed, func(p *pen, i int) {
		t.labels[i] = p.rand.IntN(len(glyphs))
		p.digitTo(t.inputs.RawRowView(i), glyphs[t.labels[i]])
	})
	d := &Dataset{Name: "digits", Classes: characters('0', 10),
		Title: fmt.Sprintf("rendered digits, %d×%d grey images", digitSide, digitSide),
		Image: &Image{Width: digitSide, Height: digitSide}, InputNames: pixelNames(digitSide, digitSide)}
	if err := d.split(&t, test, &o, ""); err != nil {
		return nil, err
	}
	d.finish(greyLevels(digitSide * digitSide))
	return d, nil
}

// digitTo stores in dst the grey levels, 0 to 255, of a digit in one of its faces.
func (p *pen) digitTo(dst []float64, faces []glyph) {
	d := distortion{
		jitter:  math.Abs(p.normal(0.04)),
		bendX:   p.normal(0.12),
		bendY:   p.normal(0.12),
		tiltX:   p.normal(0.12),
		tiltY:   p.normal(0.12),
		shear:   p.normal(0.2),
		angle:   p.normal(0.15),
		stretch: math.Exp(p.normal(0.2)),
		size:    p.uniform(8, 10.5),
		x:       digitSide/2 + p.normal(1),
		y:       digitSide/2 + p.normal(1),
	}
	p.draw(faces[p.rand.IntN(len(faces))], &d)
	intensity := p.uniform(0.7, 1)
	for i, a := range p.alpha.Pix {
		dst[i] = 0
		if a > 0 {
			dst[i] = math.Round(min(max(float64(a)*intensity+p.normal(12), 0), 255))
		}
	}
}

func greyLevels(pixels int) Scaling {
	return Scaling{Kind: ScaledUnit, Offset: make([]float64, pixels), Scale: repeat(255, pixels)}
}

// pixelNames names pixels by row and column from the top left one.
func pixelNames(width, height int) []string {
	names := make([]string, 0, width*height)
	for y := range height {
		for x := range width {
			names = append(names, fmt.Sprintf("r%dc%d", y, x))
		}
	}
	return names
}
