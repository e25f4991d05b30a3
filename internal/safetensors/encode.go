package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"unicode/utf8"
)

// Sorted returns tensors in the order of their names.
func Sorted(tensors []Tensor) []Tensor {
	sorted := slices.Clone(tensors)
	// Not slices.SortFunc: the copy of it for a struct of this size takes 25 kB of the program.
	sort.Slice(sorted, func(i, j int) bool { return sorted[i].Name < sorted[j].Name })
	return sorted
}

// Encode writes f, the numbers of Data as F64 and Ints as I64. The same content gives the same bytes. It returns the
// writer's errors, and an error for text that is not UTF-8 or a header of more than 100 MB. It panics if a name is
// there twice or a tensor has not as many numbers as its shape says.
func Encode(w io.Writer, f *File) error {
	sorted := Sorted(f.Tensors)
	header, err := encodeHeader(f.Metadata, sorted)
	if err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	var buffer [32 << 10]byte
	for i := range sorted {
		if err := sorted[i].encode(w, buffer[:]); err != nil {
			return err
		}
	}
	return nil
}

// described is a tensor in the header.
type described struct {
	Type    string `json:"dtype"`
	Shape   []int  `json:"shape"`
	Offsets [2]int `json:"data_offsets"`
}

// encodeHeader returns all that stands before the numbers.
func encodeHeader(metadata map[string]string, tensors []Tensor) ([]byte, error) {
	all, texts := make(map[string]any, len(tensors)+1), make([]string, 0, 2*len(metadata)+len(tensors))
	if len(metadata) > 0 {
		all[metadataKey] = metadata
	}
	for key, value := range metadata {
		texts = append(texts, key, value)
	}
	end := 0
	for i := range tensors {
		t := &tensors[i]
		if t.Name == metadataKey || i > 0 && t.Name == tensors[i-1].Name {
			panic(fmt.Sprintf("safetensors: Encode: the name %q is taken", t.Name))
		}
		start := end
		end += t.kind().size * t.count()
		all[t.Name] = described{t.kind().name, append([]int{}, t.Shape...), [2]int{start, end}}
		texts = append(texts, t.Name)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return nil, fmt.Errorf("safetensors: the text %q: expected UTF-8", text)
		}
	}
	header := bytes.NewBuffer(make([]byte, lengthBytes))
	e := json.NewEncoder(header)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		panic("safetensors: " + err.Error()) // none of these values fails
	}
	header.Truncate(header.Len() - 1) // the encoder's line feed
	for header.Len()%alignment != 0 {
		header.WriteByte(' ')
	}
	length := header.Len() - lengthBytes
	if length > maxHeader {
		return nil, fmt.Errorf("safetensors: a header of %d bytes: expected at most %d", length, maxHeader)
	}
	binary.LittleEndian.PutUint64(header.Bytes(), uint64(length))
	return header.Bytes(), nil
}

// kind returns how a tensor is written.
func (t *Tensor) kind() *dtype {
	if t.Ints != nil {
		return i64
	}
	return f64
}

// count returns how many numbers a tensor has, and panics unless its shape says the same.
func (t *Tensor) count() int {
	have, want := max(len(t.Data), len(t.Ints)), 1
	for _, n := range t.Shape {
		want *= n
	}
	if have != want || t.Data != nil && t.Ints != nil {
		panic(fmt.Sprintf("safetensors: Encode: tensor %q with shape %v has %d Data and %d Ints", t.Name, t.Shape,
			len(t.Data), len(t.Ints)))
	}
	return have
}

// encode writes the numbers of a tensor by way of buffer.
func (t *Tensor) encode(w io.Writer, buffer []byte) error {
	bits := func(i int) uint64 { return math.Float64bits(t.Data[i]) }
	if t.Ints != nil {
		bits = func(i int) uint64 { return uint64(t.Ints[i]) }
	}
	used := 0
	for i := range t.count() {
		binary.LittleEndian.PutUint64(buffer[used:], bits(i))
		if used += 8; used == len(buffer) {
			if _, err := w.Write(buffer); err != nil {
				return err
			}
			used = 0
		}
	}
	_, err := w.Write(buffer[:used])
	return err
}
