package tune

import "math/bits"

// directions are Joe and Kuo's primitive polynomials, as the bits of the coefficients between the first and the last,
// and the first direction numbers, as many as the polynomial's degree: those of new-joe-kuo-6.21201 for dimensions 3 to
// 33. The second is left out, so that a search draws what it drew with goptuna's engine, whose table of 21,201 takes
// 2.7 MB.
var directions = [...][]uint32{
	{1, 1, 3}, {1, 1, 3, 1}, {2, 1, 1, 1}, {1, 1, 1, 3, 3}, {4, 1, 3, 5, 13}, {2, 1, 1, 5, 5, 17}, {4, 1, 1, 5, 5, 5},
	{7, 1, 1, 7, 11, 19}, {11, 1, 1, 5, 1, 1}, {13, 1, 1, 1, 3, 11}, {14, 1, 3, 5, 5, 31}, {1, 1, 3, 3, 9, 7, 49},
	{13, 1, 1, 1, 15, 21, 21}, {16, 1, 3, 1, 13, 27, 49}, {19, 1, 1, 1, 15, 7, 5}, {22, 1, 3, 1, 15, 13, 25},
	{25, 1, 1, 5, 5, 19, 61}, {1, 1, 3, 7, 11, 23, 15, 103}, {4, 1, 3, 7, 13, 13, 15, 69}, {7, 1, 1, 3, 13, 7, 35, 63},
	{8, 1, 3, 5, 9, 1, 25, 53}, {14, 1, 3, 1, 13, 9, 35, 107}, {19, 1, 3, 1, 5, 27, 61, 31},
	{21, 1, 1, 5, 11, 19, 41, 61}, {28, 1, 3, 5, 3, 3, 13, 69}, {31, 1, 1, 7, 13, 1, 19, 1},
	{32, 1, 3, 7, 5, 13, 19, 59}, {37, 1, 1, 3, 9, 25, 29, 41}, {41, 1, 3, 5, 13, 23, 1, 55},
	{42, 1, 3, 7, 3, 13, 59, 17}, {50, 1, 3, 1, 3, 5, 53, 69},
}

// sobol is a Sobol sequence, in the order of Gray's code, without its first point, the origin [Joe & Kuo 2008].
type sobol struct {
	n uint32       // points drawn
	x []uint32     // the newest one, in units of 2⁻³²
	v [][32]uint32 // direction numbers of each coordinate, in the same units
}

// newSobol makes a sequence of at most 1+len(directions) coordinates.
func newSobol(coordinates int) *sobol {
	s := &sobol{x: make([]uint32, coordinates), v: make([][32]uint32, coordinates)}
	for j := range s.v {
		v := &s.v[j]
		var a uint32 // the polynomial
		var m []uint32
		if j > 0 {
			a, m = directions[j-1][0], directions[j-1][1:]
		}
		for i := range v {
			switch degree := len(m); {
			case degree == 0:
				v[i] = 1 << (31 - i)
			case i < degree:
				v[i] = m[i] << (31 - i)
			default:
				v[i] = v[i-degree] ^ v[i-degree]>>degree
				for k := 1; k < degree; k++ {
					v[i] ^= a >> (degree - 1 - k) & 1 * v[i-k]
				}
			}
		}
	}
	return s
}

// next returns the next point, in units of 2⁻³². It is good until the next call.
func (s *sobol) next() []uint32 {
	c := bits.TrailingZeros32(^s.n)
	for j := range s.x {
		s.x[j] ^= s.v[j][c]
	}
	s.n++
	return s.x
}
