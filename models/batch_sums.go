package models

import (
	"newtop/internal/vector"
	"newtop/models/internal/pass"
)

// partSums are what the parts of a batch add up, size numbers each. In double precision the first part's are the
// caller's vector.
type partSums[F pass.Float] struct {
	size int
	of   [][]F

	// Of the call under way.
	dst   []float64
	parts int
}

// begin is given where the sum of that many parts will be stored.
func (s *partSums[F]) begin(dst []float64, parts int) {
	s.dst, s.parts = dst, parts
	for len(s.of) < parts {
		var sum []F
		if len(s.of) > 0 || !isDouble[F]() {
			sum = make([]F, s.size)
		}
		s.of = append(s.of, sum)
	}
	if isDouble[F]() {
		s.of[0] = as[F](dst)
	}
}

// active reports whether there is something to sum up.
func (s *partSums[F]) active() bool { return s.dst != nil }

// end stores the sum, if there is one, and takes away what begin was given.
func (s *partSums[F]) end() {
	if !s.active() {
		return
	}
	if isDouble[F]() {
		for _, sum := range s.of[1:s.parts] {
			vector.Add(s.dst, s.dst, as[float64](sum))
		}
		s.of[0] = nil
	} else {
		vector.Widen(s.dst, as[float32](s.of[0]))
		for _, sum := range s.of[1:s.parts] {
			vector.AddWidened(s.dst, as[float32](sum))
		}
	}
	s.dst = nil
}
