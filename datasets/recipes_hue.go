package datasets

import "math"

// The CIE 1931 standard colorimetric observer x̄, ȳ, z̄ (2°) and the relative power of the standard illuminant
// D65, at the bands (ISO/CIE 11664-1 and 11664-2).
var (
	observer = [bands][3]float64{
		{0.01431, 0.000396, 0.06785}, {0.13438, 0.004, 0.6456}, {0.34828, 0.023, 1.74706}, {0.2908, 0.06, 1.6692},
		{0.09564, 0.13902, 0.81295}, {0.0049, 0.323, 0.272}, {0.06327, 0.71, 0.07825}, {0.2904, 0.954, 0.0203},
		{0.5945, 0.995, 0.0039}, {0.9163, 0.87, 0.00165}, {1.0622, 0.631, 0.0008}, {0.85445, 0.381, 0.00019},
		{0.4479, 0.175, 0.00002}, {0.1649, 0.061, 0}, {0.04677, 0.017, 0}, {0.011359, 0.004102, 0},
	}
	daylight = [bands]float64{
		82.7549, 93.4318, 104.865, 117.812, 115.923, 109.354, 104.790, 104.405,
		100, 95.788, 90.0062, 87.6987, 83.6992, 80.2146, 78.2842, 71.6091,
	}
)

// tristimulus returns X, Y and Z of a surface with reflectances r in daylight, Y = 1 for r = 1.
func tristimulus(r []float64) (xyz [3]float64) {
	white := 0.0
	for b, e := range daylight {
		white += e * observer[b][1]
		for i := range xyz {
			xyz[i] += e * observer[b][i] * r[b]
		}
	}
	for i := range xyz {
		xyz[i] /= white
	}
	return xyz
}

// lab returns lightness L* and the coordinates a* (green to red) and b* (blue to yellow) of CIELAB
// (ISO/CIE 11664-4) for reflectances r in daylight.
func lab(r []float64) (l, a, b float64) {
	xyz, white := tristimulus(r), tristimulus(repeat(1, bands))
	var f [3]float64
	for i := range f {
		f[i] = compress(xyz[i] / white[i])
	}
	return 116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])
}

// compress is the cube root, continued below (6/29)³ by its tangent.
func compress(t float64) float64 {
	const delta = 6.0 / 29
	if t > delta*delta*delta {
		return math.Cbrt(t)
	}
	return t/(3*delta*delta) + 4.0/29
}

// hueOf returns the hue angle of reflectances r, in degrees from 0 to 360: red is near 30, yellow near 90,
// green near 150 and blue near 270.
func hueOf(r []float64) float64 {
	_, a, b := lab(r)
	hue := math.Atan2(b, a) * 180 / math.Pi
	if hue < 0 {
		hue += 360
	}
	return hue
}
