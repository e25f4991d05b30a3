package datasets

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxIDX bounds the bytes of one IDX file, so that a wrong header or a gzip bomb costs no more memory.
// MNIST's greatest file has 47 million.
const maxIDX = 1 << 30

// idx is the content of an IDX file of bytes: an array of the given shape, the last index fastest.
//
// The format, from http://yann.lecun.com/exdb/mnist: two zero bytes, a byte for the type (8: unsigned
// bytes), a byte for the number of dimensions, each dimension as a big-endian 32-bit number, the data.
type idx struct {
	shape []int
	data  []byte
}

func openIDX(path string, dimensions int) (*idx, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readIDX(f, path, dimensions)
}

// readIDX reads an IDX file, packed by gzip or not, whatever it is called. Offsets in its errors count
// unpacked bytes. Memory grows with what was really read, not with what the header declares.
func readIDX(r io.Reader, file string, dimensions int) (*idx, error) {
	in := bufio.NewReader(r)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, torn(file, 0, "a gzip header", err)
		}
		in = bufio.NewReader(unpacked)
	}
	header := make([]byte, 4+4*dimensions)
	if n, err := io.ReadFull(in, header); err != nil {
		return nil, torn(file, n, fmt.Sprintf("an IDX header of %d bytes", len(header)), err)
	}
	if want := [4]byte{0, 0, 8, byte(dimensions)}; [4]byte(header) != want {
		return nil, &FormatError{File: file, Found: fmt.Sprintf("magic number %#08x", header[:4]),
			Expected: fmt.Sprintf("%#08x, an IDX file of bytes with %d dimensions", want, dimensions)}
	}
	x := &idx{}
	size := int64(1)
	for k := range dimensions {
		n := binary.BigEndian.Uint32(header[4+4*k:])
		if n == 0 || int64(n) > maxIDX/size {
			return nil, &FormatError{File: file, Offset: int64(4 + 4*k), Found: fmt.Sprintf("dimension %d of %d", k+1, n),
				Expected: fmt.Sprintf("at least 1 and at most %d bytes in all", maxIDX)}
		}
		size *= int64(n)
		x.shape = append(x.shape, int(n))
	}
	var data bytes.Buffer
	if n, err := io.CopyN(&data, in, size); err != nil {
		return nil, torn(file, len(header)+int(n), fmt.Sprintf("%d bytes of data after the header", size), err)
	}
	x.data = data.Bytes()
	end := len(header) + len(x.data)
	// Reading on to the end also has gzip compare its checksum.
	switch _, err := in.ReadByte(); {
	case err == nil:
		return nil, &FormatError{File: file, Offset: int64(end), Found: "more data", Expected: "the end of the file"}
	case err != io.EOF:
		return nil, torn(file, end, "the end of the file", err)
	}
	return x, nil
}

// torn tells a file that ends too early or does not unpack from one that can't be read.
func torn(file string, offset int, expected string, err error) error {
	e := &FormatError{File: file, Offset: int64(offset), Expected: expected}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Found = "the end of the file"
	case isPathError(err):
		return err
	default:
		e.Found = fmt.Sprintf("damaged data (%v)", err)
	}
	return e
}

func isPathError(err error) bool {
	_, ok := errors.AsType[*os.PathError](err)
	return ok
}
