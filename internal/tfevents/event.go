package tfevents

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"newtop/internal/protobuf"
)

// event puts the scalars of one tensorflow.Event into ready, and gives away what is no scalar.
func (r *Reader) event(data []byte) error {
	var wall float64
	var step int64
	r.histograms, r.images = r.histograms[:0], r.images[:0]
	err := protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch {
		case n == 1 && b == nil:
			wall = math.Float64frombits(v)
		case n == 2 && b == nil:
			step = int64(v)
		case n == 5 && b != nil:
			return protobuf.Fields(b, func(n protowire.Number, _ uint64, b []byte) error {
				if n != 1 || b == nil {
					return nil
				}
				s, ok, err := r.value(b)
				if ok {
					r.ready = append(r.ready, s)
				}
				return err
			})
		}
		return nil
	})
	for i := range r.ready {
		r.ready[i].Wall, r.ready[i].Step = wall, step
	}
	if err == nil {
		for _, h := range r.histograms {
			h.Wall, h.Step = wall, step
			r.Histogram(h)
		}
		for _, i := range r.images {
			i.Step, i.Wall = step, wall
			r.Image(i)
		}
	}
	return err
}

// value returns the tag and value of one Summary.Value, and whether it is a scalar.
func (r *Reader) value(data []byte) (s Scalar, ok bool, err error) {
	var metadata []byte
	err = protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch {
		case n == 1 && b != nil:
			s.Tag = r.tag(b)
		case n == 2 && b == nil:
			s.Value, ok = float64(math.Float32frombits(uint32(v))), true
		case n == 8 && b != nil:
			var err error
			s.Value, ok, err = tensor(b)
			return err
		case n == 9 && b != nil:
			metadata = b
		}
		return nil
	})
	if err == nil && metadata != nil {
		err = r.plugin(s.Tag, metadata)
	}
	if err != nil {
		return s, false, err
	}
	if !ok {
		return s, false, cmp.Or(r.histogram(s.Tag, data), r.image(s.Tag, data))
	}
	return s, r.plugins[s.Tag] == "" && (s.Value != -1 || s.Tag != placeholder), nil
}

// plugin sees for what a tag's values are, which only its first record needs to say, and gives hyperparameters away.
func (r *Reader) plugin(tag string, metadata []byte) error {
	name, content, err := pluginData(metadata)
	if err != nil || len(name) == 0 || string(name) == "scalars" {
		return err
	}
	if len(r.plugins) < maxTags {
		r.plugins[tag] = string(name)
	}
	if string(name) != "hparams" || r.Session == nil {
		return nil
	}
	told, some, err := session(content)
	if some && err == nil {
		r.Session(told)
	}
	return err
}

// histogram keeps the histogram of a Summary.Value, if it is one, until its step is known.
func (r *Reader) histogram(tag string, value []byte) error {
	if r.Histogram == nil {
		return nil
	}
	return protobuf.Fields(value, func(n protowire.Number, _ uint64, b []byte) (err error) {
		var h Histogram
		some := false
		switch {
		case b == nil:
		case n == 5:
			h, some, err = histoProto(b)
		case n == 8 && r.plugins[tag] == "histograms":
			h, some, err = histoTensor(b)
		}
		if some {
			h.Tag = tag
			r.histograms = append(r.histograms, h)
		}
		return err
	})
}

// tag returns the text of a tag, which most records share with others.
func (r *Reader) tag(b []byte) string {
	if tag, ok := r.tags[string(b)]; ok {
		return tag
	}
	tag := string(b)
	if len(r.tags) < maxTags {
		r.tags[tag] = tag
	}
	return tag
}

// pluginData returns the name of the plugin that a value is for, and what else is said for it.
func pluginData(metadata []byte) (name, content []byte, err error) {
	err = protobuf.Fields(metadata, func(n protowire.Number, _ uint64, b []byte) error {
		if n != 1 || b == nil {
			return nil
		}
		return protobuf.Fields(b, func(n protowire.Number, _ uint64, b []byte) error {
			switch n {
			case 1:
				name = b
			case 2:
				content = b
			}
			return nil
		})
	})
	return name, content, err
}

// Types of a tensor's elements (tensorflow/core/framework/types.proto).
const (
	dtFloat    = 1
	dtDouble   = 2
	dtInt32    = 3
	dtInt64    = 9
	dtBfloat16 = 14
	dtHalf     = 19
)

// tensor returns the one number of a TensorProto. It reports false for a tensor of other than one element, or of a
// type that is not a number.
func tensor(data []byte) (value float64, ok bool, err error) {
	var dtype uint64
	var content []byte
	lists := make(map[protowire.Number][]byte, 1)
	single := true
	err = protobuf.Fields(data, func(n protowire.Number, v uint64, b []byte) error {
		switch n {
		case 1:
			dtype = v
		case 2:
			one, err := oneElement(b)
			single = one
			return err
		case 4:
			content = b
		case 5, 6, 7, 10, 13:
			if b == nil { // one element that is not packed
				b = unpacked(n, v)
			}
			lists[n] = b
		}
		return nil
	})
	if err != nil || !single {
		return 0, false, err
	}
	if len(content) > 0 {
		return fromContent(dtype, content)
	}
	return fromList(dtype, lists)
}

// oneElement reports whether a tensor of the shape has one element.
func oneElement(shape []byte) (bool, error) {
	one := true
	err := protobuf.Fields(shape, func(n protowire.Number, _ uint64, b []byte) error {
		if n != 2 || b == nil {
			return nil
		}
		size := uint64(0)
		err := protobuf.Fields(b, func(n protowire.Number, v uint64, b []byte) error {
			if n == 1 && b == nil {
				size = v
			}
			return nil
		})
		one = one && size == 1
		return err
	})
	return one, err
}

// unpacked makes a packed list of one number.
func unpacked(n protowire.Number, v uint64) []byte {
	switch n {
	case 5:
		return protowire.AppendFixed32(nil, uint32(v))
	case 6:
		return protowire.AppendFixed64(nil, v)
	}
	return protowire.AppendVarint(nil, v)
}

// fromContent reads a number from the bytes that it has in memory.
func fromContent(dtype uint64, b []byte) (float64, bool, error) {
	sizes := map[uint64]int{dtFloat: 4, dtDouble: 8, dtInt32: 4, dtInt64: 8, dtBfloat16: 2, dtHalf: 2}
	size, known := sizes[dtype]
	if !known {
		return 0, false, nil
	}
	if len(b) != size {
		return 0, false, fmt.Errorf("a number of type %d in %d bytes", dtype, len(b))
	}
	switch dtype {
	case dtFloat:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true, nil
	case dtDouble:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), true, nil
	case dtInt32:
		return float64(int32(binary.LittleEndian.Uint32(b))), true, nil
	case dtInt64:
		return float64(int64(binary.LittleEndian.Uint64(b))), true, nil
	}
	return small(dtype, binary.LittleEndian.Uint16(b)), true, nil
}

// fromList reads the first number of the list that a type has. A list that is left out stands for zeros.
func fromList(dtype uint64, lists map[protowire.Number][]byte) (float64, bool, error) {
	numbers := map[uint64]protowire.Number{dtFloat: 5, dtDouble: 6, dtInt32: 7, dtInt64: 10, dtBfloat16: 13, dtHalf: 13}
	number, known := numbers[dtype]
	if !known {
		return 0, false, nil
	}
	b := lists[number]
	if len(b) == 0 {
		return 0, true, nil
	}
	switch dtype {
	case dtFloat:
		v, n := protowire.ConsumeFixed32(b)
		return float64(math.Float32frombits(v)), n > 0, protowire.ParseError(min(n, 0))
	case dtDouble:
		v, n := protowire.ConsumeFixed64(b)
		return math.Float64frombits(v), n > 0, protowire.ParseError(min(n, 0))
	}
	v, n := protowire.ConsumeVarint(b)
	if n < 0 {
		return 0, false, protowire.ParseError(n)
	}
	switch dtype {
	case dtInt32:
		return float64(int32(v)), true, nil
	case dtInt64:
		return float64(int64(v)), true, nil
	}
	return small(dtype, uint16(v)), true, nil
}

// small returns the value of a number of 16 bits.
func small(dtype uint64, bits uint16) float64 {
	if dtype == dtBfloat16 {
		return float64(math.Float32frombits(uint32(bits) << 16))
	}
	sign, exponent, fraction := 1-2*float64(bits>>15), int(bits>>10&31), float64(bits&1023)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction > 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}
