package tfevents

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Writer writes scalars, as simple values: those have 24 bits, which is what TensorBoard shows.
type Writer struct{ w io.Writer }

// NewWriter writes the file's version record; wall is the time of writing, in seconds since 1970.
func NewWriter(w io.Writer, wall float64) (*Writer, error) {
	e := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
	e = protowire.AppendFixed64(e, math.Float64bits(wall))
	e = protowire.AppendTag(e, 3, protowire.BytesType)
	e = protowire.AppendString(e, Version)
	out := &Writer{w: w}
	return out, out.record(e)
}

// Write writes a record for every stretch of scalars of one step and time, each with one call of the underlying Write.
func (w *Writer) Write(s ...Scalar) error {
	for len(s) > 0 {
		n := 1
		for n < len(s) && s[n].Step == s[0].Step && s[n].Wall == s[0].Wall {
			n++
		}
		if err := w.record(encode(s[:n])); err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// encode returns the Event of scalars of one step and time.
func encode(s []Scalar) []byte {
	var summary []byte
	for i := range s {
		value := protowire.AppendTag(nil, 1, protowire.BytesType)
		value = protowire.AppendString(value, s[i].Tag)
		value = protowire.AppendTag(value, 2, protowire.Fixed32Type)
		value = protowire.AppendFixed32(value, math.Float32bits(float32(s[i].Value)))
		summary = protowire.AppendTag(summary, 1, protowire.BytesType)
		summary = protowire.AppendBytes(summary, value)
	}
	e := protowire.AppendTag(nil, 1, protowire.Fixed64Type)
	e = protowire.AppendFixed64(e, math.Float64bits(s[0].Wall))
	if s[0].Step != 0 {
		e = protowire.AppendTag(e, 2, protowire.VarintType)
		e = protowire.AppendVarint(e, uint64(s[0].Step))
	}
	e = protowire.AppendTag(e, 5, protowire.BytesType)
	return protowire.AppendBytes(e, summary)
}

func (w *Writer) record(data []byte) error {
	out := make([]byte, 8, headerSize+len(data)+footerSize)
	binary.LittleEndian.PutUint64(out, uint64(len(data)))
	out = binary.LittleEndian.AppendUint32(out, checksum(out))
	out = append(out, data...)
	out = binary.LittleEndian.AppendUint32(out, checksum(data))
	if _, err := w.w.Write(out); err != nil {
		return fmt.Errorf("writing an event: %w", err)
	}
	return nil
}
