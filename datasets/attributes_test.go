package datasets

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// drawn puts a picture on a bitmap, its lower left corner at column left and row bottom.
func drawn(left, bottom int, picture string) *bitmap {
	var b bitmap
	lines := strings.Fields(picture)
	for i, line := range lines {
		for j, c := range line {
			if c == '#' {
				b[bottom+len(lines)-1-i] |= 1 << (left + j)
			}
		}
	}
	return &b
}

func TestAttributesByHand(t *testing.T) {
	for _, tc := range []struct {
		name         string
		left, bottom int
		picture      string
		want         [attributes]float64
	}{
		// One pixel: everything about its own centre.
		{"dot", 10, 20, "#", [attributes]float64{10, 20, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0}},
		// Full block of 2 × 2: x, y = ±1/4.
		{"block", 0, 0, "## ##", [attributes]float64{.5, .5, 2, 2, 4, 0, 0, 1. / 16, 1. / 16, 0, 0, 0, 1, 0, 1, 0}},
		// L of 3 × 3: pixels at (−1/3, 1/3), (−1/3, 0), (−1/3, −1/3), (0, −1/3), (1/3, −1/3).
		// One edge in each row, their y adding up to 0; one edge in each column, x likewise.
		{"L", 5, 7, "#.. #.. ###", [attributes]float64{6, 8, 3, 3, 5,
			-2. / 15, -2. / 15, 4. / 45, 4. / 45, -1. / 45, -1. / 27 / 5, -1. / 27 / 5, 1, 0, 1, 0}},
		// U of 3 × 2: the upper row has two edges at y = 1/4, the lower one at −1/4: (2 − 1)/4/2;
		// one edge in each of three columns.
		{"U", 1, 1, "#.# ###", [attributes]float64{2, 1.5, 3, 2, 5, 0, -1. / 20, 4. / 45, 1. / 16, 0,
			0, 0, 1.5, 1. / 8, 1, 0}},
		// A gap in a column makes a second edge there: y-ege (2 + 1)/2, at x = −1/4 twice and 1/4.
		{"gap", 3, 3, "## .# ##", [attributes]float64{3.5, 4, 2, 3, 5, .05, 0, 1. / 16, 4. / 45, 0,
			0, 0, 1, 0, 1.5, -1. / 8}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got [attributes]float64
			if !drawn(tc.left, tc.bottom, tc.picture).attributesTo(&got) {
				t.Fatal("no pixel found")
			}
			for j := range got {
				if math.Abs(got[j]-tc.want[j]) > 1e-15 {
					t.Errorf("%s = %v, want %v", attributeNames[j], got[j], tc.want[j])
				}
			}
		})
	}
	if new(bitmap).attributesTo(new([attributes]float64)) {
		t.Error("an empty bitmap has attributes")
	}
}

// naiveAttributes follows the definitions pixel by pixel.
func naiveAttributes(b *bitmap) [attributes]float64 {
	on := func(x, y int) bool {
		return x >= 0 && y >= 0 && x < letterSide && y < letterSide && b[y]>>x&1 == 1
	}
	left, right, bottom, top := letterSide, -1, letterSide, -1
	for y := range letterSide {
		for x := range letterSide {
			if on(x, y) {
				left, right, bottom, top = min(left, x), max(right, x), min(bottom, y), max(top, y)
			}
		}
	}
	w, h := float64(right-left+1), float64(top-bottom+1)
	var n float64
	var a [attributes]float64
	for y := range letterSide {
		for x := range letterSide {
			if !on(x, y) {
				continue
			}
			n++
			dx := (float64(x) - float64(left+right)/2) / w
			dy := (float64(y) - float64(bottom+top)/2) / h
			for k, v := range []float64{dx, dy, dx * dx, dy * dy, dx * dy, dx * dx * dy, dx * dy * dy} {
				a[5+k] += v
			}
			if !on(x-1, y) {
				a[12] += 1 / h
				a[13] += dy / h
			}
			if !on(x, y-1) {
				a[14] += 1 / w
				a[15] += dx / w
			}
		}
	}
	for k := 5; k < 12; k++ {
		a[k] /= n
	}
	copy(a[:], []float64{float64(left+right) / 2, float64(bottom+top) / 2, w, h, n})
	return a
}

func TestAttributesNaive(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var b bitmap
		for range 1 + rng.IntN(400) {
			b[rng.IntN(letterSide)] |= 1 << rng.IntN(letterSide)
		}
		var got [attributes]float64
		b.attributesTo(&got)
		want := naiveAttributes(&b)
		for j := range got {
			if math.Abs(got[j]-want[j]) > 1e-12 {
				t.Fatalf("%s = %v, want %v", attributeNames[j], got[j], want[j])
			}
		}
	}
}
