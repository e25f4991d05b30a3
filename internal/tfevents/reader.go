package tfevents

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// Reader reads the scalars of one file, and continues where it stopped when the file has grown.
type Reader struct {
	// Histogram, Image and Session are called by Next with what it finds on its way to the next scalar; nil: it is
	// passed over. They are set before the first call.
	Histogram func(Histogram)
	Image     func(Image)
	Session   func(Session)

	r     io.Reader
	name  string
	buf   []byte // read and not used yet, from at on
	at    int
	base  int64    // offset in the file of buf[at]
	ready []Scalar // of the last record, from next on
	next  int
	tags  map[string]string // those seen, so that each is kept once
	err   error             // what ended the reading

	plugins    map[string]string // by tags, but the scalars'
	histograms []Histogram       // of the record that is being read
	images     []Image           // likewise

	// Of a record that is too long to be looked into: how much is left of its data, and the CRC so far.
	skipping bool
	left     int64
	crc      uint32
	start    int64
}

// NewReader reads from r; name is for errors.
func NewReader(r io.Reader, name string) *Reader {
	return &Reader{r: r, name: name, tags: make(map[string]string), plugins: make(map[string]string)}
}

// Next returns the next scalar: simple values, and scalar tensors as TensorFlow 2 writes them, but not the placeholder
// that Lightning writes for a metric (hp_metric, -1). Other summaries are passed over. It returns io.EOF at the end,
// and where the last record is not whole yet; it may be called again when the file has grown. A *FormatError is final,
// for where the next record begins is unknown. Memory is taken as data comes, whatever a record says of its length.
func (r *Reader) Next() (Scalar, error) {
	for r.next == len(r.ready) {
		if r.err != nil {
			return Scalar{}, r.err
		}
		if err := r.record(); err != nil {
			if _, ok := errors.AsType[*FormatError](err); ok {
				r.err = err
			}
			return Scalar{}, err
		}
	}
	r.next++
	return r.ready[r.next-1], nil
}

// Offset returns how much of the file has been used: the end of the last whole record.
func (r *Reader) Offset() int64 {
	if r.skipping {
		return r.start
	}
	return r.base
}

// record reads one whole record or returns io.EOF, after which it may be called again.
func (r *Reader) record() error {
	if r.skipping {
		return r.skip()
	}
	if err := r.need(headerSize); err != nil {
		return err
	}
	header := r.buf[r.at : r.at+headerSize]
	if want := checksum(header[:8]); binary.LittleEndian.Uint32(header[8:]) != want {
		expected := fmt.Sprintf("%08x, the CRC of a record's length", want)
		if r.base == 0 {
			expected = "a TensorBoard event file, whose first 12 bytes are a length and its CRC"
		}
		return r.invalid(r.base, fmt.Sprintf("% x", header), expected)
	}
	length := binary.LittleEndian.Uint64(header)
	if length > maxLength {
		return r.invalid(r.base, fmt.Sprintf("a record of %d bytes", length), fmt.Sprintf("at most %d", maxLength))
	}
	if length > maxParsed {
		r.skipping, r.left, r.crc, r.start = true, int64(length), 0, r.base
		r.use(headerSize)
		return r.skip()
	}
	n := headerSize + int(length) + footerSize
	if err := r.need(n); err != nil {
		return err
	}
	data := r.buf[r.at+headerSize : r.at+n-footerSize]
	if found, want := binary.LittleEndian.Uint32(r.buf[r.at+n-footerSize:]), checksum(data); found != want {
		return r.badSum(r.base, found, want)
	}
	r.ready, r.next = r.ready[:0], 0
	if err := r.event(data); err != nil {
		r.ready = r.ready[:0]
		return r.invalid(r.base, "a record that is no event ("+err.Error()+")", "the protocol buffer tensorflow.Event")
	}
	r.use(n)
	return nil
}

func (r *Reader) invalid(at int64, found, expected string) error {
	return &FormatError{File: r.name, Offset: at, Found: found, Expected: expected}
}

func (r *Reader) badSum(at int64, found, want uint32) error {
	return r.invalid(at, fmt.Sprintf("a record with the CRC %08x", found),
		fmt.Sprintf("%08x, the CRC of its data", want))
}

// skip passes over the rest of a long record.
func (r *Reader) skip() error {
	for r.left > 0 {
		if err := r.need(1); err != nil {
			return err
		}
		part := r.buf[r.at:]
		part = part[:min(int64(len(part)), r.left)]
		r.crc = crc32.Update(r.crc, castagnoli, part)
		r.left -= int64(len(part))
		r.use(len(part))
	}
	if err := r.need(footerSize); err != nil {
		return err
	}
	if found, want := binary.LittleEndian.Uint32(r.buf[r.at:]), mask(r.crc); found != want {
		return r.badSum(r.start, found, want)
	}
	r.skipping = false
	r.use(footerSize)
	return nil
}

func (r *Reader) use(n int) {
	r.at += n
	r.base += int64(n)
}

const readSize = 64 << 10

// need makes at least n bytes stand from r.at on. It returns io.EOF when there are not as many yet.
func (r *Reader) need(n int) error {
	for len(r.buf)-r.at < n {
		if r.at > 0 && (r.at == len(r.buf) || r.at >= readSize) {
			r.buf = r.buf[:copy(r.buf, r.buf[r.at:])]
			r.at = 0
		}
		r.buf = slices.Grow(r.buf, readSize)
		got, err := r.r.Read(r.buf[len(r.buf) : len(r.buf)+readSize])
		r.buf = r.buf[:len(r.buf)+got]
		if got > 0 {
			continue
		}
		if err == nil {
			err = io.EOF // a reader that has nothing now
		}
		if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
			return io.EOF
		}
		return fmt.Errorf("%s: byte %d: %w", r.name, r.base, err)
	}
	return nil
}
