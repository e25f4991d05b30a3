package convert

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// pageFault says what is wrong with a page.
type pageFault struct{ found, expected string }

func (e *pageFault) Error() string { return e.found + ", expected " + e.expected }

func damaged(found string) error { return &pageFault{found, "a page of Parquet"} }

// errDamaged is for values that can't be decoded.
var errDamaged = damaged("values that can't be decoded")

// safely calls a function of the library, which panics at some damaged files.
func safely(call func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = errDamaged
		}
	}()
	return call()
}

// sceptic reads Thrift. It believes no list to have more elements than there are bytes, as memory is taken for them at
// once, and no structures to be nested without end, as the stack is. Parquet has no other containers.
type sceptic struct {
	thrift.BytesReader
	size int
	open int // structures that began, and those of lists that are still to come: as many can be nested
}

const maxOpen = 1 << 19

var errThrift = errors.New("structures that can't be")

func (s *sceptic) ReadList() (thrift.List, error) {
	l, err := s.BytesReader.ReadList()
	if l.Type == thrift.STRUCT {
		s.open += int(l.Size)
	}
	if err == nil && (int(l.Size) > s.size-s.BytesRead() || l.Type > thrift.BINARY && l.Type < thrift.STRUCT ||
		s.open > maxOpen) {
		err = errThrift
	}
	return l, err
}

func (s *sceptic) ReadField() (thrift.Field, error) {
	f, err := s.BytesReader.ReadField()
	switch f.Type {
	case thrift.STRUCT:
		s.open++
	case thrift.STOP:
		s.open--
	}
	if err == nil && (f.Type == thrift.SET || f.Type == thrift.MAP || s.open > maxOpen) {
		err = errThrift
	}
	return f, err
}

// Discard goes over what is unknown; the library looks for it in a reader of bytes.
func (s *sceptic) Discard(n int) (int, error) {
	return s.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}

// readThrift reads a structure, and returns the number of its bytes.
func readThrift(b []byte, to any) (n int, err error) {
	s := &sceptic{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(b), size: len(b)}
	err = safely(func() error { return thrift.NewDecoder(s).Decode(to) })
	return s.BytesRead(), err
}

// page is decoded values of a column.
type page struct {
	offset      int64   // in the file
	first, last int     // rows of the group
	place       []int32 // of the rows' values, -1 for a missing one; nil if none is missing
	cell        cell
}

// cell appends the text of a value of a page.
type cell func(dst []byte, i int) ([]byte, error)

// append appends the text of a row.
func (p *page) append(dst []byte, row int) ([]byte, error) {
	i := row - p.first
	if p.place != nil {
		if i = int(p.place[i]); i < 0 {
			return dst, nil
		}
	}
	return p.cell(dst, i)
}

// column reads the values of a column of a row group.
func (p *parquet) column(j int, c *chunkDescription) (pages []page, err error) {
	d := decoder{of: &p.columns[j], codec: c.Codec}
	if c.Values == 0 {
		return nil, nil
	}
	chunk, err := p.file.read(c.start(), int(c.Size))
	if err != nil {
		return nil, err
	}
	rows := 0
	for at := 0; rows < int(c.Values); {
		to := page{offset: c.start() + int64(at), first: rows}
		var h format.PageHeader
		n, err := readThrift(chunk[at:], &h)
		if at += n; err != nil || h.CompressedPageSize < 0 || int(h.CompressedPageSize) > len(chunk)-at {
			return nil, p.fault(j, to.offset, damaged("a damaged header"))
		}
		content := chunk[at:][:h.CompressedPageSize:h.CompressedPageSize]
		if at += len(content); h.CRC != 0 && crc32.ChecksumIEEE(content) != uint32(h.CRC) {
			return nil, p.fault(j, to.offset, damaged("a wrong checksum"))
		}
		n, err = d.page(&h, content, int(c.Values)-rows, &to)
		if err != nil {
			return nil, p.fault(j, to.offset, err)
		}
		if rows += n; n > 0 {
			to.last = rows
			pages = append(pages, to)
		}
	}
	return pages, nil
}

// decoder decodes the pages of a column in a row group.
type decoder struct {
	of         *parquetColumn
	codec      format.CompressionCodec
	dictionary [][]byte // its values' texts
}

// page decodes a page of at most left rows, and returns their number: 0 for a dictionary.
func (d *decoder) page(h *format.PageHeader, b []byte, left int, to *page) (rows int, err error) {
	v1, v2, size := &h.DataPageHeader.V, &h.DataPageHeaderV2.V, int(h.UncompressedPageSize)
	codec, encoding, levels := d.codec, v1.Encoding, []byte(nil)
	switch {
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		if b, err = unpack(codec, b, size); err != nil {
			return 0, err
		}
		return 0, d.readDictionary(b, int(h.DictionaryPageHeader.V.NumValues))
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		rows = int(v1.NumValues)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		rows, encoding = int(v2.NumValues), v2.Encoding
		before, skip := int(v2.RepetitionLevelsByteLength), int(v2.DefinitionLevelsByteLength)
		if before < 0 || skip < 0 || before+skip > min(len(b), size) {
			return 0, damaged("a header that can't be")
		}
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			codec = format.Uncompressed
		}
		levels, b, size = b[before:before+skip], b[before+skip:], size-before-skip
	default:
		return 0, nil
	}
	if rows < 0 || rows > left {
		return 0, &pageFault{fmt.Sprintf("%d values", rows), fmt.Sprintf("at most %d, which are left", left)}
	}
	if b, err = unpack(codec, b, size); err != nil {
		return 0, err
	}
	count := rows
	if d.of.Repetition == format.Optional {
		if h.Type == format.DataPage {
			if v1.DefinitionLevelEncoding != format.RLE {
				return 0, &pageFault{fmt.Sprintf("levels in encoding %d", v1.DefinitionLevelEncoding), "RLE, 3"}
			}
			if levels, b, err = prefixed(b); err != nil {
				return 0, err
			}
		}
		if to.place, count, err = readPositions(levels, rows); err != nil {
			return 0, err
		}
	}
	if count > 0 {
		to.cell, err = d.values(encoding, b, count)
	}
	return rows, err
}

// prefixed cuts off bytes whose number stands before them.
func prefixed(b []byte) (first, rest []byte, err error) {
	if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
		return nil, nil, errDamaged
	}
	n := 4 + int(binary.LittleEndian.Uint32(b))
	return b[4:n], b[n:], nil
}

// readPositions reads which of n values are there, and returns where, nil if all are, and their number.
func readPositions(levels []byte, n int) (positions []int32, count int, err error) {
	there, err := bits(levels, n)
	if err != nil {
		return nil, 0, err
	}
	positions = make([]int32, n)
	for i, level := range there {
		if positions[i] = -1; level == 1 {
			positions[i] = int32(count)
			count++
		}
	}
	if count == n {
		return nil, n, nil
	}
	return positions, count, nil
}

// bits decodes n bits that come in runs.
func bits(b []byte, n int) (out []byte, err error) {
	if b, err = runs(b, 1, n); err != nil {
		return nil, err
	}
	err = safely(func() (err error) {
		out, err = (&rle.Encoding{BitWidth: 1}).DecodeLevels(nil, b)
		return err
	})
	if err != nil || len(out) < n {
		return nil, errDamaged
	}
	return out[:n], nil
}

const maxPage = 1 << 28 // bytes, unpacked

// unpack unpacks a page to that many bytes.
func unpack(codec format.CompressionCodec, packed []byte, size int) (content []byte, err error) {
	if size < 0 || size > maxPage {
		return nil, &pageFault{fmt.Sprintf("a page of %d bytes", size), fmt.Sprintf("at most %d", maxPage)}
	}
	if len(packed) == 0 && size == 0 {
		return nil, nil
	}
	stream := func(r io.Reader, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, int64(size)+1))
	}
	switch codec {
	case format.Uncompressed:
		content = packed
	case format.Snappy:
		// The bytes that come are known before, and Snappy packs 64 into 2 at best.
		n, err := snappy.DecodedLen(packed)
		if err != nil || n != size || size > 64*len(packed) {
			return nil, errDamaged
		}
		if content, err = snappy.Decode(nil, packed); err != nil {
			return nil, errDamaged
		}
	case format.Gzip:
		content, err = stream(gzip.NewReader(bytes.NewReader(packed)))
	case format.Zstd:
		content, err = unzstd(packed, size)
	case format.Lz4Raw:
		if size > 256*len(packed) { // LZ4 packs 255 into 1 at best
			return nil, errDamaged
		}
		content = make([]byte, size)
		n, err := lz4.UncompressBlock(packed, content)
		if err != nil {
			return nil, errDamaged
		}
		content = content[:n]
	default:
		return nil, &pageFault{fmt.Sprintf("values packed by %s (codec %d)", codec, codec),
			`Snappy, gzip, zstd or LZ4_RAW; with Python: pandas.read_parquet(FILE).to_parquet("table.parquet")`}
	}
	if err != nil {
		return nil, damaged("damaged data (" + err.Error() + ")")
	}
	if len(content) != size {
		return nil, &pageFault{fmt.Sprintf("%d bytes", len(content)), fmt.Sprintf("%d as in the page's header", size)}
	}
	return content, nil
}

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxPage))
})

func unzstd(packed []byte, size int) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(packed); err == nil && h.HasFCS && h.FrameContentSize > uint64(size) {
		return nil, errors.New("another size") // before memory is taken
	}
	d, err := zstdDecoder()
	if err != nil {
		return nil, err
	}
	return d.DecodeAll(packed, nil)
}
