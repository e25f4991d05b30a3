package convert

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"newtop/datasets/fault"
)

// page is a header and what follows it.
type page struct {
	kind          int64 // 0: values, 2: dictionary, 3: values of version 2
	size, packed  int64 // bytes, unpacked and as they are
	sum           uint32
	summed        bool
	values        int64
	encoding      int64
	levelEncoding int64
	levels        int64 // bytes of version 2
	repetition    int64 // bytes of version 2
	uncompressed  bool  // though the chunk is
	headed        bool  // whether there is a header of its kind
	content       []byte
	behind        int64
}

// pageFault says what is wrong with a page.
type pageFault struct{ found, expected string }

func (e *pageFault) Error() string { return e.found + ", expected " + e.expected }

func damaged(found string) error { return &pageFault{found, "a page of Parquet"} }

// errDamaged is what decoders return for values that can't be.
var errDamaged = damaged("values that can't be decoded")

// column reads the values of a column of a row group.
func (p *parquet) column(j int, c *columnChunk) (cells, error) {
	of := &p.columns[j]
	d := decoder{of: of, cells: cells{column: of}}
	defer d.close()
	wrong := func(at int64, err error) error {
		e, ok := errors.AsType[*pageFault](err)
		if !ok {
			return err
		}
		return &fault.FormatError{File: p.file.Name, Offset: at, Column: of.name, Found: e.found, Expected: e.expected}
	}
	chunk, err := p.file.read(c.start(), int(c.size))
	if err != nil {
		return d.cells, err
	}
	for at := 0; int64(d.count) < c.values; {
		offset := c.start() + int64(at)
		page, err := readPage(chunk[at:])
		if err != nil {
			return d.cells, wrong(offset, err)
		}
		at += int(page.behind)
		if page.kind != 0 && page.kind != 2 && page.kind != 3 {
			continue
		}
		if page.values > c.values-int64(d.count) && page.kind != 2 {
			return d.cells, wrong(offset, &pageFault{fmt.Sprintf("%d values", page.values), fmt.Sprintf("at most %d, which are left", c.values-int64(d.count))})
		}
		if err := d.page(page, c.codec); err != nil {
			return d.cells, wrong(offset, err)
		}
	}
	return d.cells, nil
}

// readPage reads a page's header.
func readPage(b []byte) (*page, error) {
	p := &page{}
	t := thrift{b: b, kind: thriftStruct}
	t.structure(func(field int) bool {
		switch field {
		case 1:
			p.kind = t.int()
		case 2:
			p.size = t.int()
		case 3:
			p.packed = t.int()
		case 4:
			p.sum, p.summed = uint32(t.int()), true
		case 5, 7, 8:
			p.headed = true
			t.structure(func(inner int) bool { return p.header(&t, field, inner) })
		default:
			return false
		}
		return true
	})
	switch {
	case t.failed || p.packed < 0 || p.size < 0 || p.packed > int64(len(b)-t.at):
		return nil, damaged("a damaged header")
	case p.values < 0 || p.levels < 0 || p.repetition < 0 || p.levels+p.repetition > p.packed || p.levels+p.repetition > p.size || !p.headed && p.kind != 1:
		return nil, damaged("a header that can't be")
	}
	p.content = b[t.at : t.at+int(p.packed)]
	p.behind = int64(t.at) + p.packed
	if p.summed && crc32.ChecksumIEEE(p.content) != p.sum {
		return nil, damaged("a wrong checksum")
	}
	return p, nil
}

// header reads a field of the header of a kind of page: of version 1 (5), a dictionary (7), or version 2 (8).
func (p *page) header(t *thrift, kind, field int) bool {
	switch {
	case field == 1:
		p.values = t.int()
	case kind != 8 && field == 2, kind == 8 && field == 4:
		p.encoding = t.int()
	case kind == 5 && field == 3:
		p.levelEncoding = t.int()
	case kind == 8 && field == 5:
		p.levels = t.int()
	case kind == 8 && field == 6:
		p.repetition = t.int()
	case kind == 8 && field == 7:
		p.uncompressed = !t.bool()
	default:
		return false
	}
	return true
}

// page decodes a page.
func (d *decoder) page(p *page, codec int64) error {
	levels := p.repetition + p.levels
	if p.uncompressed {
		codec = 0
	}
	content, err := d.unpack(codec, p.content[levels:], p.size-levels)
	if err != nil {
		return err
	}
	if p.kind == 2 {
		d.dictionary, err = d.plain(content, int(p.values))
		return err
	}
	var present []bool
	count := int(p.values)
	if d.of.optional {
		level := p.content[p.repetition:levels]
		if p.kind == 0 {
			if level, content, err = prefixed(content); err != nil {
				return err
			}
			if p.levelEncoding != encodingRLE {
				return &pageFault{fmt.Sprintf("levels in encoding %d", p.levelEncoding), "RLE, 3"}
			}
		}
		if present, count, err = presence(level, count); err != nil {
			return err
		}
	}
	return d.values(p.encoding, content, int(p.values), count, present)
}

// prefixed cuts off bytes whose number stands before them.
func prefixed(b []byte) (first, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errDamaged
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:n], b[n:], nil
}

// presence reads which values are there, nil if all are, and their number.
func presence(level []byte, n int) (present []bool, count int, err error) {
	levels, err := hybrid(level, 1, n)
	if err != nil {
		return nil, 0, err
	}
	present = make([]bool, n)
	for i, l := range levels {
		if present[i] = l == 1; present[i] {
			count++
		}
	}
	if count == n {
		return nil, n, nil
	}
	return present, count, nil
}

const maxPage = 1 << 28 // bytes, unpacked

// unpack unpacks a page to so many bytes.
func (d *decoder) unpack(codec int64, packed []byte, size int64) (content []byte, err error) {
	if size < 0 || size > maxPage {
		return nil, &pageFault{fmt.Sprintf("a page of %d bytes", size), fmt.Sprintf("at most %d", maxPage)}
	}
	if len(packed) == 0 && size == 0 {
		return nil, nil
	}
	switch codec {
	case 0:
		content = packed
	case 1:
		// The bytes that come are known before, and Snappy packs 64 into 2 at best.
		n, err := snappy.DecodedLen(packed)
		if err != nil || int64(n) != size || size > 64*int64(len(packed)) {
			return nil, errDamaged
		}
		content, err = snappy.Decode(nil, packed)
		if err != nil {
			return nil, errDamaged
		}
	case 2:
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(packed)); err == nil {
			content, err = io.ReadAll(io.LimitReader(z, size+1))
		}
	case 6:
		content, err = d.zstd(packed)
	default:
		name := map[int64]string{3: "LZO", 4: "Brotli", 5: "LZ4", 7: "LZ4"}[codec]
		return nil, &pageFault{fmt.Sprintf("values packed by %s (codec %d)", cmp.Or(name, "another codec"), codec),
			`Snappy, gzip or zstd; with Python: pandas.read_parquet(FILE).to_parquet("table.parquet")`}
	}
	if err != nil {
		return nil, damaged("damaged data (" + err.Error() + ")")
	}
	if int64(len(content)) != size {
		return nil, &pageFault{fmt.Sprintf("%d bytes", len(content)), fmt.Sprintf("%d as in the page's header", size)}
	}
	return content, nil
}

func (d *decoder) zstd(packed []byte) (content []byte, err error) {
	if d.unpacker == nil {
		if d.unpacker, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage)); err != nil {
			return nil, err
		}
	}
	return d.unpacker.DecodeAll(packed, nil)
}

// close lets go of what unpacks.
func (d *decoder) close() {
	if d.unpacker != nil {
		d.unpacker.Close()
	}
}
