package event

import "newtop/internal/jsonscan"

// scanQuick reads epochs and inner iterations, the lines that come by the million, if they are plain: keys in small
// letters, strings without escapes, no unknown key with a value that is more than a number or a word. It reports false
// for everything that it is not sure to read as decodeForeign does, mistakes included.
func scanQuick(line []byte) (Event, bool) {
	s := scanner{jsonscan.Scanner{Text: line}}
	if !s.Next('{') || string(s.key()) != "type" {
		return nil, false
	}
	switch string(s.Word()) {
	case "epoch":
		e := unknownEpoch
		if s.epoch(&e) {
			return e, true
		}
	case "inner":
		e := unknownInner
		if s.inner(&e) {
			return e, true
		}
	}
	return nil, false
}

// epoch reads the rest of an epoch's object, after the value of its type.
func (s *scanner) epoch(e *EpochEvent) bool {
	for s.Next(',') {
		key := s.key()
		read := false
		switch string(key) {
		case "epoch":
			read = s.Int(&e.Epoch)
		case "accepted":
			read = s.Bool(&e.Accepted)
		case "optimizer":
			read = s.String(&e.Optimizer)
		case "inner":
			read = list(s, &e.Inner, unknownSummary, (*scanner).summary)
		case "blocks":
			read = list(s, &e.Blocks, BlockNorms{}, (*scanner).norms)
		case "figures":
			read = list(s, &e.Metrics, Metric{}, (*scanner).metric)
		case "members", "gates", "preconditioner":
		default:
			if q, ok := quantityOf[string(key)]; ok {
				read = s.float(q.Of(e))
			} else {
				read = s.pass(key)
			}
		}
		if !read {
			return false
		}
	}
	return s.end()
}

// inner reads the rest of an inner iteration's object, after the value of its type.
func (s *scanner) inner(e *InnerEvent) bool {
	for s.Next(',') {
		key := s.key()
		read := false
		switch string(key) {
		case "epoch":
			read = s.Int(&e.Epoch)
		case "block":
			read = s.Int(&e.Block)
		case "member":
			read = s.Int(&e.Member)
		case "iteration":
			read = s.Int(&e.Iteration)
		case "residual":
			read = s.float(&e.Residual)
		case "step_norm":
			read = s.float(&e.StepNorm)
		case "radius":
			read = s.float(&e.Radius)
		case "curvature":
			read = s.float(&e.Curvature)
		case "model":
			read = s.float(&e.Model)
		default:
			read = s.pass(key)
		}
		if !read {
			return false
		}
	}
	return s.end()
}

// list reads an array of objects, each from the one that is given.
func list[T any](s *scanner, out *[]T, from T, read func(*scanner, *T) bool) bool {
	if *out != nil || !s.Next('[') { // a second list would be read into the first
		return false
	}
	*out = []T{}
	if s.Next(']') {
		return true
	}
	for {
		e := from
		if !s.Next('{') || !read(s, &e) || !s.Next('}') {
			return false
		}
		*out = append(*out, e)
		if !s.Next(',') {
			return s.Next(']')
		}
	}
}

// each calls read for the keys of an object up to its brace.
func (s *scanner) each(read func(key []byte) bool) bool {
	if s.Peek() == '}' {
		return true
	}
	for {
		if key := s.key(); !read(key) {
			return false
		}
		if !s.Next(',') {
			return true
		}
	}
}

func (s *scanner) summary(e *InnerSummary) bool {
	return s.each(func(key []byte) bool {
		switch string(key) {
		case "block":
			return s.Int(&e.Block)
		case "member":
			return s.Int(&e.Member)
		case "iterations":
			return s.Int(&e.Iterations)
		case "stop":
			word := s.Word()
			return word != nil && e.Stop.UnmarshalText(word) == nil
		case "residual":
			return s.float(&e.Residual)
		case "true_residual":
			return s.float(&e.TrueResidual)
		case "step_norm":
			return s.float(&e.StepNorm)
		case "curvature":
			return s.float(&e.Curvature)
		case "ritz":
			return s.floats(&e.Ritz)
		case "preconditioned":
			return s.Bool(&e.Preconditioned)
		case "flops":
			return s.float(&e.Flops)
		case "lanczos_steps":
			return s.Int(&e.LanczosSteps)
		case "multiplier":
			return s.float(&e.Multiplier)
		case "steihaug_share":
			return s.float(&e.SteihaugShare)
		}
		return s.pass(key)
	})
}

func (s *scanner) norms(e *BlockNorms) bool {
	return s.each(func(key []byte) bool {
		switch string(key) {
		case "to":
			return s.Int(&e.To)
		case "from":
			return s.Int(&e.From)
		case "weight_norm":
			return s.float(&e.Weight)
		case "gradient_norm":
			return s.float(&e.Gradient)
		case "step_norm":
			return s.float(&e.Step)
		}
		return s.pass(key)
	})
}

func (s *scanner) metric(e *Metric) bool {
	return s.each(func(key []byte) bool {
		switch string(key) {
		case "key":
			return s.String(&e.Key)
		case "value":
			return s.float(&e.Value)
		case "symbol", "meaning", "x", "of":
			if e.MetricNote == nil {
				e.MetricNote = new(MetricNote)
			}
		}
		switch string(key) {
		case "symbol":
			return s.String(&e.Symbol)
		case "meaning":
			return s.String(&e.Meaning)
		case "x":
			e.X = new(int)
			return s.Int(e.X)
		case "of":
			return s.String(&e.Of)
		}
		return s.pass(key)
	})
}
