package datasets

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"newtop/datasets/fault"
)

// maxIDX bounds the bytes of one IDX file, so that a wrong header or a
// gzip bomb costs no more memory. MNIST's greatest file has 47 million.
const maxIDX = 1 << 30

// idx is an IDX file of bytes: an array of the given shape, the last index fastest. Its data stay in the
// file until they are asked for.
//
// The format, from http://yann.lecun.com/exdb/mnist: two zero bytes, a byte for the type (8: unsigned
// bytes), a byte for the number of dimensions, each dimension as a big-endian 32-bit number, the data.
type idx struct {
	file   string
	src    io.ReaderAt
	size   int64 // of src
	packed bool  // by gzip
	shape  []int
	data   int64 // bytes that the header declares
	io.Closer
}

// openIDX opens an IDX file, packed by gzip or not, whatever it is called, and reads its header. Offsets
// in errors count unpacked bytes.
func openIDX(path string, dimensions int) (*idx, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	x, err := newIDX(f, info.Size(), path, dimensions)
	if err != nil {
		f.Close()
		return nil, err
	}
	x.Closer = f
	return x, nil
}

// newIDX reads the header of an IDX file of that many bytes. A file that is not packed must have as many
// bytes as the header says; of a packed one that is known when it was read.
func newIDX(src io.ReaderAt, size int64, file string, dimensions int) (*idx, error) {
	x := &idx{file: file, src: src, size: size, data: 1}
	in, err := x.unpacked()
	if err != nil {
		return nil, err
	}
	header := make([]byte, 4+4*dimensions)
	if n, err := io.ReadFull(in, header); err != nil {
		return nil, fault.Torn(file, int64(n), fmt.Sprintf("an IDX header of %d bytes", len(header)), err)
	}
	if want := [4]byte{0, 0, 8, byte(dimensions)}; [4]byte(header) != want {
		return nil, &fault.FormatError{File: file, Found: fmt.Sprintf("magic number %#08x", header[:4]),
			Expected: fmt.Sprintf("%#08x, an IDX file of bytes with %d dimensions", want, dimensions)}
	}
	for k := range dimensions {
		n := binary.BigEndian.Uint32(header[4+4*k:])
		if n == 0 || int64(n) > maxIDX/x.data {
			return nil, &fault.FormatError{File: file, Offset: int64(4 + 4*k),
				Found:    fmt.Sprintf("dimension %d of %d", k+1, n),
				Expected: fmt.Sprintf("at least 1 and at most %d bytes in all", maxIDX)}
		}
		x.data *= int64(n)
		x.shape = append(x.shape, int(n))
	}
	if x.packed {
		return x, nil
	}
	switch end := x.start() + x.data; {
	case size < end:
		return nil, fault.Torn(file, size, x.expected(), io.EOF)
	case size > end:
		return nil, &fault.FormatError{File: file, Offset: end, Found: "more data", Expected: "the end of the file"}
	}
	return x, nil
}

// unpacked returns a reader of the whole file, header and data, and finds out whether it is packed.
func (x *idx) unpacked() (*bufio.Reader, error) {
	content, packed, err := Unpack(io.NewSectionReader(x.src, 0, x.size), x.file)
	x.packed = packed
	return content, err
}

// start returns how many bytes the header has.
func (x *idx) start() int64 { return int64(4 + 4*len(x.shape)) }

func (x *idx) expected() string { return fmt.Sprintf("%d bytes of data after the header", x.data) }

// row returns how many bytes there are for each value of the first index.
func (x *idx) row() int64 { return x.data / int64(x.shape[0]) }

// each visits the data of the first that many values of the first index. They are the callee's until it returns.
func (x *idx) each(rows int, visit func(i int, data []byte)) error {
	step := rows
	if !x.packed {
		step = max(1, int((1<<20)/x.row()))
	}
	for first := 0; first < rows; first += step {
		last := min(first+step, rows)
		data, err := x.read(first, last)
		if err != nil {
			return err
		}
		for i := first; i < last; i++ {
			visit(i, data[:x.row()])
			data = data[x.row():]
		}
	}
	return nil
}

// read returns the data of [first, last) of the first index. Only these are read from a file that is not packed.
// A packed one is unpacked to its end, which has gzip compare its checksum, and memory grows with what of
// the range was really there.
func (x *idx) read(first, last int) ([]byte, error) {
	if first == last {
		return nil, nil
	}
	from, size := x.start()+int64(first)*x.row(), int64(last-first)*x.row()
	if !x.packed {
		data := make([]byte, size)
		if n, err := x.src.ReadAt(data, from); n < len(data) {
			return nil, fault.Torn(x.file, from+int64(n), x.expected(), err)
		}
		return data, nil
	}
	in, err := x.unpacked()
	if err != nil {
		return nil, err
	}
	if n, err := io.CopyN(io.Discard, in, from); err != nil {
		return nil, fault.Torn(x.file, n, x.expected(), err)
	}
	var data bytes.Buffer
	if n, err := io.CopyN(&data, in, size); err != nil {
		return nil, fault.Torn(x.file, from+n, x.expected(), err)
	}
	end := x.start() + x.data
	if n, err := io.CopyN(io.Discard, in, end-from-size); err != nil {
		return nil, fault.Torn(x.file, from+size+n, x.expected(), err)
	}
	switch _, err := in.ReadByte(); {
	case err == nil:
		return nil, &fault.FormatError{File: x.file, Offset: end, Found: "more data", Expected: "the end of the file"}
	case err != io.EOF:
		return nil, fault.Torn(x.file, end, "the end of the file", err)
	}
	return data.Bytes(), nil
}
