package event

// scanQuick reads epochs and inner iterations, the lines that come by the million, if they are plain: keys in small
// letters, strings without escapes, no unknown key with a value that is more than a number or a word. It reports false
// for everything that it is not sure to read as decodeForeign does, mistakes included.
func scanQuick(line []byte) (Event, bool) {
	s := scanner{text: line}
	if !s.next('{') || string(s.key()) != "type" {
		return nil, false
	}
	switch string(s.word()) {
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
	for s.next(',') {
		key := s.key()
		read := false
		switch string(key) {
		case "epoch":
			read = s.int(&e.Epoch)
		case "accepted":
			read = s.bool(&e.Accepted)
		case "optimizer":
			read = s.string(&e.Optimizer)
		case "inner":
			read = list(s, &e.Inner, unknownSummary, (*scanner).summary)
		case "blocks":
			read = list(s, &e.Blocks, BlockNorms{}, (*scanner).norms)
		case "figures":
			read = list(s, &e.Figures, Figure{}, (*scanner).figure)
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
	for s.next(',') {
		key := s.key()
		read := false
		switch string(key) {
		case "epoch":
			read = s.int(&e.Epoch)
		case "block":
			read = s.int(&e.Block)
		case "member":
			read = s.int(&e.Member)
		case "iteration":
			read = s.int(&e.Iteration)
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
	if *out != nil || !s.next('[') { // a second list would be read into the first
		return false
	}
	*out = []T{}
	if s.next(']') {
		return true
	}
	for {
		e := from
		if !s.next('{') || !read(s, &e) || !s.next('}') {
			return false
		}
		*out = append(*out, e)
		if !s.next(',') {
			return s.next(']')
		}
	}
}

// each calls read for the keys of an object up to its brace.
func (s *scanner) each(read func(key []byte) bool) bool {
	s.space()
	if s.at < len(s.text) && s.text[s.at] == '}' {
		return true
	}
	for {
		if key := s.key(); !read(key) {
			return false
		}
		if !s.next(',') {
			return true
		}
	}
}

func (s *scanner) summary(e *InnerSummary) bool {
	return s.each(func(key []byte) bool {
		switch string(key) {
		case "block":
			return s.int(&e.Block)
		case "member":
			return s.int(&e.Member)
		case "iterations":
			return s.int(&e.Iterations)
		case "stop":
			word := s.word()
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
			return s.bool(&e.Preconditioned)
		case "flops":
			return s.float(&e.Flops)
		case "lanczos_steps":
			return s.int(&e.LanczosSteps)
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
			return s.int(&e.To)
		case "from":
			return s.int(&e.From)
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

func (s *scanner) figure(e *Figure) bool {
	return s.each(func(key []byte) bool {
		switch string(key) {
		case "key":
			return s.string(&e.Key)
		case "symbol":
			return s.string(&e.Symbol)
		case "meaning":
			return s.string(&e.Meaning)
		case "value":
			return s.float(&e.Value)
		}
		return s.pass(key)
	})
}
