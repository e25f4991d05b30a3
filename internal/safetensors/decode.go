package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"unicode/utf8"
)

// Bounds that keep what a header asks for near the size of its text.
const (
	maxDims = 16      // of a tensor
	maxKeys = 1 << 20 // of the header and of its metadata
)

// Decode reads a file's text; name is for errors. Tensors of F64, F32, F16 and BF16 get Data, those of I64 Ints. They
// come in the order of their numbers in the file and share nothing with the text. Decode allocates no more than a few
// times the text, and returns a *FormatError for anything else.
func Decode(text []byte, name string) (*File, error) {
	d := decoder{file: name}
	if len(text) < lengthBytes {
		return nil, d.fault(0, fmt.Sprintf("%d bytes", len(text)), "8 bytes with the header's length")
	}
	length := binary.LittleEndian.Uint64(text)
	rest := text[lengthBytes:]
	switch {
	case length > maxHeader:
		return nil, d.fault(0, fmt.Sprintf("a header of %d bytes", length),
			fmt.Sprintf("at most %d in a safetensors file", maxHeader))
	case length > uint64(len(rest)):
		return nil, d.fault(0, fmt.Sprintf("a header of %d bytes", length),
			fmt.Sprintf("at most the %d that follow", len(rest)))
	}
	d.buffer, d.start = rest[length:], lengthBytes+int64(length)
	if err := d.header(rest[:length]); err != nil {
		return nil, err
	}
	if err := d.contiguous(); err != nil {
		return nil, err
	}
	f := &File{Metadata: d.metadata, Tensors: make([]Tensor, len(d.entries))}
	for i := range d.entries {
		f.Tensors[i] = d.entries[i].tensor(d.buffer)
	}
	return f, nil
}

// entry is a tensor as the header describes it.
type entry struct {
	name       string
	dtype      *dtype
	shape      []int
	start, end int // bytes of the buffer
	at         int64
}

// decoder reads a header, token by token, since encoding/json takes the last of two equal keys.
type decoder struct {
	file     string
	buffer   []byte
	start    int64 // of the buffer in the file
	json     *json.Decoder
	metadata map[string]string
	entries  []entry
}

func (d *decoder) fault(offset int64, found, expected string) error {
	return &FormatError{File: d.file, Offset: offset, Found: found, Expected: expected}
}

// at returns the offset in the file behind the last token.
func (d *decoder) at() int64 { return lengthBytes + d.json.InputOffset() }

func (d *decoder) header(text []byte) error {
	switch {
	case len(text) == 0 || text[0] != '{':
		return d.fault(lengthBytes, "no {", "a safetensors header in JSON")
	case !utf8.Valid(text):
		return d.fault(lengthBytes, "bytes that are not UTF-8", "a safetensors header in JSON")
	}
	d.json = json.NewDecoder(bytes.NewReader(text))
	d.json.UseNumber()
	err := d.object(func(key string) error {
		if key == metadataKey {
			return d.readMetadata()
		}
		return d.readEntry(key)
	})
	if err != nil {
		return err
	}
	if _, err := d.json.Token(); err != io.EOF {
		return d.fault(d.at(), "text behind the header's }", "spaces at most")
	}
	return nil
}

// token returns the next token, or a *FormatError unless it is of T.
func token[T any](d *decoder, expected string) (v T, err error) {
	t, err := d.json.Token()
	if err != nil {
		found := "JSON that is cut off"
		if bad, ok := errors.AsType[*json.SyntaxError](err); ok {
			found = bad.Error()
		}
		return v, d.fault(d.at(), found, expected)
	}
	v, ok := t.(T)
	if !ok {
		return v, d.fault(d.at(), fmt.Sprintf("%.40q", fmt.Sprint(t)), expected)
	}
	return v, nil
}

// delimiter reads a brace or bracket.
func (d *decoder) delimiter(want json.Delim) error {
	got, err := token[json.Delim](d, want.String())
	if err == nil && got != want {
		err = d.fault(d.at(), got.String(), want.String())
	}
	return err
}

// object reads an object and calls value for each key, which reads what belongs to it.
func (d *decoder) object(value func(key string) error) error {
	if err := d.delimiter('{'); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for d.json.More() {
		key, err := token[string](d, "a name")
		if err != nil {
			return err
		}
		if seen[key] {
			return d.fault(d.at(), fmt.Sprintf("a second %.40q", key), "different names")
		}
		if len(seen) == maxKeys {
			return d.fault(d.at(), "another name", fmt.Sprintf("at most %d", maxKeys))
		}
		seen[key] = true
		if err := value(key); err != nil {
			return err
		}
	}
	return d.delimiter('}')
}

func (d *decoder) readMetadata() error {
	d.metadata = make(map[string]string)
	return d.object(func(key string) error {
		text, err := token[string](d, "a text, as all metadata are")
		d.metadata[key] = text
		return err
	})
}

func (d *decoder) readEntry(name string) error {
	e := entry{name: name, end: -1, at: d.at()}
	shaped := false
	err := d.object(func(key string) (err error) {
		switch key {
		case "dtype":
			e.dtype, err = d.readType()
		case "shape":
			shaped = true
			e.shape, err = d.integers(maxDims)
		case "data_offsets":
			var span []int
			if span, err = d.integers(2); err == nil {
				err = d.setSpan(&e, span)
			}
		default:
			err = d.fault(d.at(), fmt.Sprintf("%.40q in a tensor", key), "dtype, shape and data_offsets")
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case e.dtype == nil || !shaped || e.end < 0:
		return d.fault(d.at(), fmt.Sprintf("a tensor %.40q that lacks one", name), "dtype, shape and data_offsets")
	}
	if size, ok := byteSize(e.dtype, e.shape); !ok || size != e.end-e.start {
		return d.fault(e.at, fmt.Sprintf("%d bytes for %s with shape %v", e.end-e.start, e.dtype.name, e.shape),
			"as many as the shape says")
	}
	d.entries = append(d.entries, e)
	return nil
}

// byteSize returns how many bytes the numbers of a tensor take, if an int can say it.
func byteSize(t *dtype, shape []int) (size int, ok bool) {
	if slices.Contains(shape, 0) {
		return 0, true
	}
	product := uint64(t.size)
	for _, n := range shape {
		over, next := bits.Mul64(product, uint64(n))
		if over != 0 || next > math.MaxInt {
			return 0, false
		}
		product = next
	}
	return int(product), true
}

func (d *decoder) readType() (*dtype, error) {
	name, err := token[string](d, "a dtype")
	if err != nil {
		return nil, err
	}
	for _, t := range dtypes {
		if t.name == name {
			return t, nil
		}
	}
	return nil, d.fault(d.at(), fmt.Sprintf("dtype %.40q", name), "F64, F32, F16, BF16 or I64")
}

// integers reads a list of at most that many whole numbers from 0 on.
func (d *decoder) integers(limit int) ([]int, error) {
	if err := d.delimiter('['); err != nil {
		return nil, err
	}
	list := []int{}
	for d.json.More() {
		number, err := token[json.Number](d, "a whole number")
		if err != nil {
			return nil, err
		}
		n, err := strconv.ParseInt(string(number), 10, strconv.IntSize)
		if err != nil || n < 0 {
			return nil, d.fault(d.at(), fmt.Sprintf("%.40s", number), "a whole number from 0 on")
		}
		if len(list) == limit {
			return nil, d.fault(d.at(), "another number", fmt.Sprintf("at most %d", limit))
		}
		list = append(list, int(n))
	}
	return list, d.delimiter(']')
}

// setSpan checks where a tensor's numbers are.
func (d *decoder) setSpan(e *entry, span []int) error {
	if len(span) != 2 || span[0] > span[1] || span[1] > len(d.buffer) {
		return d.fault(d.at(), fmt.Sprintf("data_offsets %v", span),
			fmt.Sprintf("a beginning and an end from 0 to %d", len(d.buffer)))
	}
	e.start, e.end = span[0], span[1]
	return nil
}

// contiguous sorts the tensors by place and makes sure that they fill the buffer and share nothing.
func (d *decoder) contiguous() error {
	// Not slices.SortFunc: the copy of it for a struct of this size takes 25 kB of the program.
	sort.Slice(d.entries, func(i, j int) bool {
		a, b := &d.entries[i], &d.entries[j]
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name)) < 0
	})
	end := 0
	for i := range d.entries {
		if e := &d.entries[i]; e.start != end {
			return d.fault(e.at, fmt.Sprintf("tensor %.40q at %d", e.name, e.start),
				fmt.Sprintf("it at %d, where the one before ends", end))
		}
		end = d.entries[i].end
	}
	if extra := len(d.buffer) - end; extra > 0 {
		return d.fault(d.start+int64(end), fmt.Sprintf("%d bytes of no tensor", extra), "the end of the file")
	}
	return nil
}

// tensor reads the numbers.
func (e *entry) tensor(buffer []byte) Tensor {
	raw := buffer[e.start:e.end]
	n := len(raw) / e.dtype.size
	t := Tensor{Name: e.name, Shape: e.shape}
	if e.dtype == i64 {
		t.Ints = make([]int64, n)
		for i := range t.Ints {
			t.Ints[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]))
		}
		return t
	}
	t.Data = make([]float64, n)
	for i := range t.Data {
		switch at := raw[e.dtype.size*i:]; e.dtype {
		case f64:
			t.Data[i] = math.Float64frombits(binary.LittleEndian.Uint64(at))
		case f32:
			t.Data[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(at)))
		case f16:
			t.Data[i] = half(binary.LittleEndian.Uint16(at))
		case bf16:
			t.Data[i] = float64(math.Float32frombits(uint32(binary.LittleEndian.Uint16(at)) << 16))
		}
	}
	return t
}

// half returns the value of an IEEE 754 binary16 number.
func half(b uint16) float64 {
	exponent, fraction := int(b>>10&31), float64(b&1023)
	v := math.Ldexp(1+fraction/1024, exponent-15)
	switch exponent {
	case 0:
		v = math.Ldexp(fraction, -24)
	case 31:
		v = math.Inf(1)
		if fraction > 0 {
			v = math.NaN()
		}
	}
	if b>>15 == 1 {
		return -v
	}
	return v
}
