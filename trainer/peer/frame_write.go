package peer

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// outgoing is a vector to be sent: weights, or rows.
type outgoing struct {
	name   string
	floats []float64
	double bool    // whether these are F64 whatever weights are
	ints   []int   // where there are no floats
	mapped *mapped // nil: in the body
}

func (o *outgoing) len() int { return max(len(o.floats), len(o.ints)) }

// dtype returns that of the vector where weights have type t.
func (o *outgoing) dtype(t dtype) dtype {
	switch {
	case o.floats == nil:
		return i64
	case o.double:
		return f64
	}
	return t
}

// writer writes frames through one buffer.
type writer struct {
	w      io.Writer
	buffer []byte
}

// frame writes a frame whose vectors of weights have type t. It changes the head.
func (w *writer) frame(h map[string]any, t dtype, vectors []outgoing) error {
	var end int64
	if len(vectors) > 0 {
		described := make(map[string]vectorOf, len(vectors))
		for i := range vectors {
			o := &vectors[i]
			v := vectorOf{Dtype: o.dtype(t), Shape: []int{o.len()}}
			bytes := int64(o.len()) * int64(v.Dtype.size())
			if v.Map = o.mapped != nil; v.Map {
				v.Offsets = [2]int64{0, bytes}
				encode(o.mapped.ours(), o.floats, t)
			} else {
				begin := aligned(end)
				end = begin + bytes
				v.Offsets = [2]int64{begin, end}
			}
			described[o.name] = v
		}
		h["vectors"] = described
	}
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if len(text) > maxHeader-alignment {
		return fmt.Errorf("%v has %d bytes, more than the %d of a header", h["op"], len(text), maxHeader)
	}
	// Spaces behind the head put vectors at multiples of the alignment in memory too.
	spaces := int(aligned(int64(prefix+len(text)))) - prefix - len(text)
	w.buffer = append(w.buffer[:0], magic...)
	w.buffer = binary.LittleEndian.AppendUint32(w.buffer, uint32(len(text)+spaces))
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer, uint64(end))
	w.buffer = append(w.buffer, text...)
	for range spaces {
		w.buffer = append(w.buffer, ' ')
	}
	return w.body(t, vectors)
}

// body writes the vectors behind what the buffer has.
func (w *writer) body(t dtype, vectors []outgoing) error {
	var at int64
	for i := range vectors {
		o := &vectors[i]
		if o.mapped != nil {
			continue
		}
		pad := aligned(at) - at
		w.buffer = append(w.buffer, padding[:pad]...)
		var err error
		switch {
		case o.floats == nil:
			err = w.ints(o.ints)
			at += pad + 8*int64(len(o.ints))
		default:
			err = w.floats(o.floats, o.dtype(t))
			at += pad + int64(len(o.floats))*int64(o.dtype(t).size())
		}
		if err != nil {
			return err
		}
	}
	return w.flush()
}

var padding [alignment]byte

func aligned(at int64) int64 { return (at + alignment - 1) &^ (alignment - 1) }

func (w *writer) flush() error {
	if len(w.buffer) == 0 {
		return nil
	}
	_, err := w.w.Write(w.buffer)
	w.buffer = w.buffer[:0]
	return err
}

// floats writes weights: long vectors of F64 straight from their memory.
func (w *writer) floats(x []float64, t dtype) error {
	if t == f64 && littleEndian && len(x) > chunk/8 {
		if err := w.flush(); err != nil {
			return err
		}
		_, err := w.w.Write(asBytes(x))
		return err
	}
	for size := t.size(); len(x) > 0; {
		if len(w.buffer) >= chunk {
			if err := w.flush(); err != nil {
				return err
			}
		}
		n := min(len(x), max(1, (chunk-len(w.buffer))/size))
		at := len(w.buffer)
		w.buffer = slices.Grow(w.buffer, n*size)[:at+n*size]
		encode(w.buffer[at:], x[:n], t)
		x = x[n:]
	}
	return nil
}

func (w *writer) ints(x []int) error {
	for _, v := range x {
		if len(w.buffer) >= chunk {
			if err := w.flush(); err != nil {
				return err
			}
		}
		w.buffer = binary.LittleEndian.AppendUint64(w.buffer, uint64(int64(v)))
	}
	return nil
}
