// Package safetensors reads and writes the safetensors format (github.com/huggingface/safetensors): eight bytes with
// the header's length, a JSON header that names tensors and where they are, and their numbers without gaps. All
// numbers are little-endian.
package safetensors

import "fmt"

// File is a file's content. Names are unique.
type File struct {
	Metadata map[string]string
	Tensors  []Tensor
}

// Tensor is one array, row-major, with as many Data as the product of Shape, or as many Ints if those are not nil.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float64
	Ints  []int64
}

// FormatError says where a file is not what it should be. Offset counts bytes from 0; Found and Expected are phrases.
type FormatError struct {
	File            string
	Offset          int64
	Found, Expected string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: offset %d: found %s, expected %s", e.File, e.Offset, e.Found, e.Expected)
}

const (
	lengthBytes = 8           // of the header's length
	maxHeader   = 100_000_000 // bytes; the reference implementation takes no more
	alignment   = 8           // of the first number in the file
	metadataKey = "__metadata__"
)

// dtype is how the numbers of a tensor are written.
type dtype struct {
	name string
	size int // bytes of a number
}

var (
	f64    = &dtype{"F64", 8}
	i64    = &dtype{"I64", 8}
	f32    = &dtype{"F32", 4}
	f16    = &dtype{"F16", 2}
	bf16   = &dtype{"BF16", 2}
	dtypes = []*dtype{f64, f32, f16, bf16, i64}
)
