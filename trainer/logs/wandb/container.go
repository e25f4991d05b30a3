package wandb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

const (
	blockSize  = 32 << 10 // blocks are counted from the beginning of the file
	headerSize = 7        // of the file, and of each chunk
	maxRecord  = 64 << 20 // a longer record is passed over
)

// Types of a chunk: a whole record, or a part of one.
const (
	full = iota + 1
	first
	middle
	last
)

// format is one of the formats that share the container.
type format struct {
	program string
	ident   string // the first four bytes
	magic   uint16
	version byte
}

func (f *format) header() string {
	return string(append(binary.LittleEndian.AppendUint16([]byte(f.ident), f.magic), f.version))
}

// container reads records one after the other, and continues where it stopped when the file has grown.
type container struct {
	f      io.ReaderAt
	name   string // for errors
	format *format
	at     int64  // where the next record begins, or is looked for
	lost   bool   // whether chunks are passed over up to the next that begins a record
	bad    int    // how many places could not be read
	torn   bool   // whether the end of the file can't be read as it is now
	block  []byte // what has been read of the block that begins at base
	base   int64
	record []byte // of the parts of a record
}

// next returns the next record, which is valid until the next call. It returns io.EOF where there is no whole record
// yet, and reads that one again from its beginning when it is called again.
func (c *container) next() ([]byte, error) {
	if c.format == nil {
		if err := c.readHeader(); err != nil {
			return nil, err
		}
	}
	c.torn = false
	started := false
	for pos := c.at; ; {
		kind, data, end, err := c.chunk(pos)
		if err == errBad || err == nil && started && len(c.record) > maxRecord {
			c.bad++
			c.at, c.lost, started, pos = end, true, false, end
			continue
		}
		if err != nil {
			return nil, err
		}
		begins := kind == full || kind == first
		switch {
		case begins && started: // the end of a record is missing
			c.bad++
			c.at = pos
		case !begins && !started: // its beginning is missing
			if !c.lost {
				c.bad++
			}
			c.at, c.lost, pos = end, true, end
			continue
		}
		pos = end
		switch kind {
		case full:
			c.at, c.lost = end, false
			return data, nil
		case first:
			c.record, c.lost, started = append(c.record[:0], data...), false, true
		case middle:
			c.record = append(c.record, data...)
		case last:
			c.record = append(c.record, data...)
			c.at = end
			return c.record, nil
		}
	}
}

// readHeader reads the header of the file. It returns io.EOF where that is not whole yet.
func (c *container) readHeader() error {
	head := make([]byte, headerSize)
	n, err := c.f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	head = head[:n]
	for _, f := range formats {
		switch {
		case n < headerSize && strings.HasPrefix(f.header(), string(head)):
			return io.EOF
		case string(head) == f.header():
			c.format, c.at = f, headerSize
			return nil
		case n == headerSize && strings.HasPrefix(string(head), f.ident):
			return fmt.Errorf("%s: a %s file with the magic number %#x and version %d: expected %#x and %d",
				c.name, f.program, binary.LittleEndian.Uint16(head[4:]), head[6], f.magic, f.version)
		}
	}
	return fmt.Errorf("%s: begins with %q: expected a run of W&B, which begins with %q, or of SwanLab, with %q",
		c.name, head, wandb.ident, swanlab.ident)
}

// errBad says that a chunk can't be read, nor where in its block the next one begins.
var errBad = errors.New("a bad chunk")

// chunk returns the chunk at pos or, if no chunk fits in there, at the next block, and where the next one begins.
func (c *container) chunk(pos int64) (kind byte, data []byte, end int64, err error) {
	if rest := blockSize - pos%blockSize; rest < headerSize {
		pos += rest
	}
	base := pos - pos%blockSize
	from := int(pos - base)
	if err := c.load(base, from+headerSize); err != nil {
		return 0, nil, 0, err
	}
	head := c.block[from : from+headerSize]
	sum, length := binary.LittleEndian.Uint32(head), int(binary.LittleEndian.Uint16(head[4:]))
	to := from + headerSize + length
	if to <= blockSize {
		if err := c.load(base, to); err != nil {
			return 0, nil, 0, err
		}
		if kind := head[6]; kind >= full && kind <= last && crc32.ChecksumIEEE(c.block[from+headerSize-1:to]) == sum {
			return kind, c.block[from+headerSize : to], base + int64(to), nil
		}
	}
	// The block that is being written may be seen half written: it is read again until there is another one.
	if n, _ := c.f.ReadAt(make([]byte, 1), base+blockSize); n == 0 {
		c.block, c.torn = c.block[:0], true
		return 0, nil, 0, io.EOF
	}
	return 0, nil, base + blockSize, errBad
}

// load makes at least n bytes of a block stand in c.block. It returns io.EOF when there are not as many yet.
func (c *container) load(base int64, n int) error {
	if c.block == nil {
		c.block = make([]byte, 0, blockSize)
	}
	if base != c.base {
		c.base, c.block = base, c.block[:0]
	}
	for len(c.block) < n {
		have := len(c.block)
		got, err := c.f.ReadAt(c.block[have:blockSize], base+int64(have))
		c.block = c.block[:have+got]
		if got == 0 && err == nil {
			err = io.EOF
		}
		if err != nil && len(c.block) < n {
			return err
		}
	}
	return nil
}

// fault says how much could not be read.
func (c *container) fault() string {
	n := c.bad
	if c.torn {
		n++
	}
	switch n {
	case 0:
		return ""
	case 1:
		return c.name + ": one damaged place was passed over"
	}
	return fmt.Sprintf("%s: %d damaged places were passed over", c.name, n)
}
