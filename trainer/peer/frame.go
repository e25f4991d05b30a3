package peer

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"unicode/utf8"
	"unsafe"

	"newtop/trainer/event"
)

// What a frame is, as docs/peer.md says.
const (
	magic     = "NTP1"
	prefix    = 16
	maxHeader = 1 << 20
	maxBody   = 1 << 40
	alignment = 64
)

// chunk is how many bytes of a vector are converted at a time, which is what a socket holds.
const chunk = 1 << 18

// dtype is the name of a vector's numbers.
type dtype string

const (
	f64 dtype = "F64"
	f32 dtype = "F32"
	i64 dtype = "I64"
)

// size is how many bytes a number has; 0 for a name that docs/peer.md does not know.
func (t dtype) size() int {
	switch t {
	case f64, i64:
		return 8
	case f32:
		return 4
	}
	return 0
}

// vectorOf describes a vector in a head, as safetensors does.
type vectorOf struct {
	Dtype   dtype    `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
	Map     bool     `json:"map,omitempty"`
}

// UnmarshalJSON wants two offsets, where encoding/json takes any number of them.
func (v *vectorOf) UnmarshalJSON(text []byte) error {
	var d struct {
		Dtype   dtype   `json:"dtype"`
		Shape   []int   `json:"shape"`
		Offsets []int64 `json:"data_offsets"`
		Map     bool    `json:"map"`
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return err
	}
	if len(d.Offsets) != 2 {
		return fmt.Errorf("a vector has %d data_offsets, not 2", len(d.Offsets))
	}
	*v = vectorOf{d.Dtype, d.Shape, [2]int64(d.Offsets), d.Map}
	return nil
}

// check says what is wrong with a vector that should have n numbers of type t between two bytes.
func (v *vectorOf) check(name string, t dtype, n int, from, to int64) error {
	begin, end := v.Offsets[0], v.Offsets[1]
	switch {
	case v.Dtype != t:
		return fmt.Errorf("vector %s has dtype %.20q, not %q", name, v.Dtype, t)
	case len(v.Shape) != 1 || v.Shape[0] != n:
		return fmt.Errorf("vector %s has shape %.40s, not [%d]", name, fmt.Sprint(v.Shape), n)
	case begin%alignment != 0:
		return fmt.Errorf("vector %s begins at byte %d, which is no multiple of %d", name, begin, alignment)
	case begin < from || begin > end || end > to:
		return fmt.Errorf("vector %s lies in bytes %d to %d, outside of %d to %d", name, begin, end, from, to)
	case end-begin != int64(n)*int64(t.size()):
		return fmt.Errorf("vector %s has %d bytes, not %d", name, end-begin, int64(n)*int64(t.size()))
	}
	return nil
}

// header is what a frame says, by keys.
type header map[string]json.RawMessage

// parseHeader reads a head, which is one JSON object in UTF-8.
func parseHeader(text []byte) (header, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("a header is not UTF-8")
	}
	var h header
	if err := json.Unmarshal(text, &h); err != nil || h == nil {
		return nil, fmt.Errorf("a header is not a JSON object: %.40q", text)
	}
	return h, nil
}

// read stores what a key says, and nothing if it is not there, nor for null.
func (h header) read(key string, dst any) error {
	text, ok := h[key]
	if !ok || string(text) == "null" {
		return nil
	}
	if err := json.Unmarshal(text, dst); err != nil {
		return fmt.Errorf("%s is %.40q, which is not what it should be", key, text)
	}
	return nil
}

// number returns what a key says, or NaN.
func (h header) number(key string) (float64, error) {
	v := event.Absent
	err := h.read(key, &v)
	return float64(v), err
}

// required is number for a key that has to be there.
func (h header) required(key string) (float64, error) {
	if _, ok := h[key]; !ok || string(h[key]) == "null" {
		return 0, fmt.Errorf("there is no %s", key)
	}
	return h.number(key)
}

// count returns the whole number of a key, from least up; 0 if the key is not there.
func (h header) count(key string, least int) (int, error) {
	var v int
	if err := h.read(key, &v); err != nil {
		return 0, err
	}
	if v < least || int64(v) > maxBody {
		return 0, fmt.Errorf("%s is %d, which is not what it should be", key, v)
	}
	return v, nil
}

// text returns the string of a key.
func (h header) text(key string) (string, error) {
	var v string
	err := h.read(key, &v)
	return v, err
}

// reader reads frames. Bytes of vectors go to where they are wanted, so that none are kept, whatever a frame says of
// its size.
type reader struct {
	r       *bufio.Reader
	prefix  [prefix]byte
	buffer  []byte // of heads, and of numbers while they are converted
	left    int64  // bytes of the body that were not read
	at      int64  // the next of them
	vectors map[string]vectorOf
}

func newReader(r io.Reader) *reader { return &reader{r: bufio.NewReaderSize(r, 1<<16)} }

// next reads the beginning of a frame: its head, and what is said of its vectors. At an end between two frames it is
// io.EOF.
func (r *reader) next() (header, error) {
	if _, err := io.ReadFull(r.r, r.prefix[:]); err != nil {
		return nil, err
	}
	if string(r.prefix[:4]) != magic {
		return nil, fmt.Errorf("a frame begins with %q, not %q", r.prefix[:4], magic)
	}
	length, body := binary.LittleEndian.Uint32(r.prefix[4:]), binary.LittleEndian.Uint64(r.prefix[8:])
	switch {
	case length > maxHeader:
		return nil, fmt.Errorf("a header has %d bytes, more than %d", length, maxHeader)
	case body > maxBody:
		return nil, fmt.Errorf("a body has %d bytes, more than %d", body, int64(maxBody))
	}
	text, err := r.arriving(int(length))
	if err != nil {
		return nil, midway(err)
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	r.left, r.at, r.vectors = int64(body), 0, nil
	if err := h.read("vectors", &r.vectors); err != nil {
		return nil, err
	}
	return h, r.bounded(int64(body))
}

// arriving reads a number of bytes into the buffer, which grows as they come.
func (r *reader) arriving(length int) ([]byte, error) {
	const step = 1 << 14
	have := 0
	for have < length {
		n := min(length-have, max(step, have))
		if cap(r.buffer) < have+n {
			r.buffer = slices.Grow(r.buffer[:have], n)
		}
		r.buffer = r.buffer[:cap(r.buffer)]
		if _, err := io.ReadFull(r.r, r.buffer[have:have+n]); err != nil {
			return nil, err
		}
		have += n
	}
	return r.buffer[:length], nil
}

// bounded refuses a body that is not as long as its vectors: a wrong length would be waited for, or read as the next
// frame.
func (r *reader) bounded(body int64) error {
	var end int64
	for _, name := range slices.Sorted(maps.Keys(r.vectors)) {
		if v := r.vectors[name]; !v.Map {
			end = max(end, v.Offsets[1])
		}
	}
	if body < end || body-end >= alignment {
		return fmt.Errorf("a body has %d bytes, and its vectors end at %d", body, end)
	}
	return nil
}

// vector reads n numbers. Vectors of one body have to be read in their order there.
func (r *reader) vector(name string, t dtype, n int) (*vectorOf, error) {
	v, ok := r.vectors[name]
	if !ok {
		return nil, fmt.Errorf("there is no vector %s", name)
	}
	if v.Map {
		return &v, nil
	}
	if err := v.check(name, t, n, r.at, r.at+r.left); err != nil {
		return nil, err
	}
	return &v, r.skip(v.Offsets[0] - r.at)
}

// floats reads a vector of weights that stands in the body.
func (r *reader) floats(dst []float64, t dtype) error {
	if t == f64 && littleEndian {
		return r.bytes(asBytes(dst))
	}
	for size := t.size(); len(dst) > 0; {
		n := min(len(dst), chunk/size)
		r.buffer = slices.Grow(r.buffer[:0], chunk)[:n*size]
		if err := r.bytes(r.buffer); err != nil {
			return err
		}
		decode(dst[:n], r.buffer, t)
		dst = dst[n:]
	}
	return nil
}

func (r *reader) bytes(b []byte) error {
	n, err := io.ReadFull(r.r, b)
	r.at += int64(n)
	r.left -= int64(n)
	return midway(err)
}

// skip passes over bytes of the body.
func (r *reader) skip(n int64) error {
	skipped, err := io.CopyN(io.Discard, r.r, n)
	r.at += skipped
	r.left -= skipped
	return midway(err)
}

// end passes over what is left of the body.
func (r *reader) end() error { return r.skip(r.left) }

// midway is an error within a frame, where no end is one.
func midway(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// littleEndian is whether vectors of F64 lie in memory as they do in frames.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// asBytes is the memory of numbers.
func asBytes(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
}

// asSingles is memory as n numbers, where it has them as frames do. It begins at a multiple of 4 bytes.
func asSingles(b []byte, n int) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b[:4*n]))), n)
}

// decode converts numbers of a frame or of a mapped file, which begin at a multiple of 8 bytes.
func decode(dst []float64, b []byte, t dtype) {
	switch {
	case t == f32 && littleEndian:
		widen(dst, asSingles(b, len(dst)))
	case t == f32:
		for i := range dst {
			dst[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
		}
	case littleEndian:
		copy(asBytes(dst), b)
	default:
		for i := range dst {
			dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
		}
	}
}

// widen converts four numbers at a time: one after the other each conversion would wait for the one before.
func widen(dst []float64, x []float32) {
	for len(dst) >= 4 && len(x) >= 4 {
		a, b, c, d := x[0], x[1], x[2], x[3]
		dst[0], dst[1], dst[2], dst[3] = float64(a), float64(b), float64(c), float64(d)
		dst, x = dst[4:], x[4:]
	}
	for i, v := range x {
		dst[i] = float64(v)
	}
}

// encode is decode the other way.
func encode(b []byte, x []float64, t dtype) {
	switch {
	case t == f32 && littleEndian:
		singles := asSingles(b, len(x))
		for i, v := range x {
			singles[i] = float32(v)
		}
	case t == f32:
		for i, v := range x {
			binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(float32(v)))
		}
	case littleEndian:
		copy(b, asBytes(x))
	default:
		for i, v := range x {
			binary.LittleEndian.PutUint64(b[8*i:], math.Float64bits(v))
		}
	}
}
