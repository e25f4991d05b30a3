package convert

import (
	"encoding/binary"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/plain"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is how older files say format.RLEDictionary.
const plainDictionary = format.Encoding(2)

// readDictionary decodes a dictionary.
func (d *decoder) readDictionary(b []byte, n int) error {
	if n < 0 || n > 8*len(b) {
		return errDamaged
	}
	word, err := d.values(format.Plain, b, n)
	if err != nil {
		return err
	}
	d.dictionary = make([][]byte, n)
	var all []byte
	for i := range d.dictionary {
		start := len(all)
		if all, err = word(all, i); err != nil {
			return err
		}
		d.dictionary[i] = all[start:len(all):len(all)]
	}
	return nil
}

// values decodes n values.
func (d *decoder) values(e format.Encoding, b []byte, n int) (cell, error) {
	c := d.of
	switch {
	case e == format.RLEDictionary, e == plainDictionary:
		return d.lookUp(b, n)
	case c.Type == format.Boolean && e == format.RLE:
		b, _, err := prefixed(b)
		if err != nil {
			return nil, err
		}
		truths, err := bits(b, n)
		return func(dst []byte, i int) ([]byte, error) { return c.number(dst, int64(truths[i])), nil }, err
	}
	enc, b, err := c.encoding(e, b, n)
	if err != nil {
		return nil, err
	}
	var to cell
	got := 0
	err = safely(func() (err error) {
		to, got, err = c.decode(enc, b)
		return err
	})
	if err != nil || got < n {
		return nil, errDamaged
	}
	return to, nil
}

// lookUp decodes numbers of words in the dictionary.
func (d *decoder) lookUp(b []byte, n int) (cell, error) {
	if len(b) == 0 || b[0] > 32 {
		return nil, errDamaged
	}
	packed, err := runs(b[1:], int(b[0]), n)
	if err != nil {
		return nil, err
	}
	var index []int32
	err = safely(func() (err error) {
		index, err = (&rle.Encoding{BitWidth: int(b[0])}).DecodeInt32(nil, packed)
		return err
	})
	if err != nil || len(index) < n {
		return nil, errDamaged
	}
	words := d.dictionary
	for _, i := range index[:n] {
		if int(uint32(i)) >= len(words) {
			return nil, errDamaged
		}
	}
	return func(dst []byte, i int) ([]byte, error) { return append(dst, words[index[i]]...), nil }, nil
}

// encoding returns what decodes n values, and those bytes that they are in, after a look at the sizes in them.
func (c *parquetColumn) encoding(e format.Encoding, b []byte, n int) (encoding.Encoding, []byte, error) {
	width := c.width()
	numbers := c.Type == format.Int32 || c.Type == format.Int64
	words := c.Type == format.ByteArray
	switch {
	case e == format.Plain && c.Type == format.Boolean, e == format.Plain && words:
		return &plain.Encoding{}, b, nil
	case e == format.Plain:
		if n > len(b)/width {
			return nil, nil, errDamaged
		}
		return &plain.Encoding{}, b[:n*width], nil
	case e == format.ByteStreamSplit && width > 0 && c.Type != format.Int96:
		if n != len(b)/width {
			return nil, nil, errDamaged
		}
		return &bytestreamsplit.Encoding{}, b, nil
	case e == format.DeltaBinaryPacked && numbers:
		_, err := deltas(b, uint64(8*width), n)
		return &delta.BinaryPackedEncoding{}, b, err
	case e == format.DeltaLengthByteArray && words:
		_, err := deltas(b, 32, n)
		return &delta.LengthByteArrayEncoding{}, b, err
	case e == format.DeltaByteArray && (words || c.Type == format.FixedLenByteArray):
		rest, err := deltas(b, 32, n)
		if err == nil {
			_, err = deltas(rest, 32, n)
		}
		if err == nil {
			err = checkPrefixes(b)
		}
		return &delta.ByteArrayEncoding{}, b, err
	}
	return nil, nil, &pageFault{fmt.Sprintf("encoding %d of values of type %d", e, c.Type),
		"one that the format allows"}
}

// width returns the bytes of a value, 0 where they are not fixed.
func (c *parquetColumn) width() int {
	switch c.Type {
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return int(c.Length)
	}
	return 0
}

// decode decodes values, and returns their number.
func (c *parquetColumn) decode(e encoding.Encoding, b []byte) (to cell, n int, err error) {
	switch c.Type {
	case format.Boolean:
		v, err := e.DecodeBoolean(nil, b)
		return func(dst []byte, i int) ([]byte, error) { return c.number(dst, int64(v[i/8]>>(i%8)&1)), nil },
			8 * len(v), err
	case format.Int32:
		v, err := e.DecodeInt32(nil, b)
		return func(dst []byte, i int) ([]byte, error) { return c.number(dst, int64(v[i])), nil }, len(v), err
	case format.Int64:
		v, err := e.DecodeInt64(nil, b)
		return func(dst []byte, i int) ([]byte, error) { return c.number(dst, v[i]), nil }, len(v), err
	case format.Float:
		v, err := e.DecodeFloat(nil, b)
		return func(dst []byte, i int) ([]byte, error) { return appendFinite(dst, float64(v[i])) }, len(v), err
	case format.Double:
		v, err := e.DecodeDouble(nil, b)
		return func(dst []byte, i int) ([]byte, error) { return appendFinite(dst, v[i]) }, len(v), err
	case format.Int96:
		v, err := e.DecodeInt96(nil, b)
		return func(dst []byte, i int) ([]byte, error) { return appendInt96(dst, v[i]), nil }, len(v), err
	case format.ByteArray:
		v, ends, err := e.DecodeByteArray(nil, b, nil)
		return func(dst []byte, i int) ([]byte, error) { return c.bytes(dst, v[ends[i]:ends[i+1]]) }, len(ends) - 1, err
	}
	width := c.width()
	v, err := e.DecodeFixedLenByteArray(nil, b, width)
	return func(dst []byte, i int) ([]byte, error) { return c.bytes(dst, v[i*width:][:width]) }, len(v) / width, err
}

// runs returns those bytes that n numbers of some bits are in, which come in runs: of one number, or packed in eights.
// The library takes memory for as many as a run's head says.
func runs(b []byte, width, n int) ([]byte, error) {
	at, left := 0, uint64(n)
	for left > 0 {
		header, k := binary.Uvarint(b[at:])
		count, size := header>>1, uint64(width+7)/8
		if header&1 == 1 {
			count, size = min(count, 1<<40)*8, min(count, 1<<40)*uint64(width)
		}
		if k <= 0 || count == 0 || size > uint64(len(b)-at-k) || count > left+7 && (header&1 == 0 || width == 0) {
			return nil, errDamaged
		}
		at += k + int(size)
		left -= min(count, left)
	}
	return b[:at:at], nil
}

// deltas makes sure that at most n whole numbers are stored as differences, and returns what is behind them. The
// library takes memory for as many as the head says.
func deltas(b []byte, bits uint64, n int) (rest []byte, err error) {
	var header [4]uint64 // values of a block, its parts, all values, the first value
	next := func(to *uint64) bool {
		v, k := binary.Uvarint(b)
		if k > 0 {
			*to, b = v, b[k:]
		}
		return k > 0
	}
	for i := range header {
		if !next(&header[i]) {
			return nil, errDamaged
		}
	}
	size, parts, left := header[0], header[1], header[2]
	if size == 0 || parts == 0 || size > 1<<16 || size%128 != 0 || size%parts != 0 || size/parts%32 != 0 ||
		left > uint64(n) {
		return nil, errDamaged
	}
	for left -= min(left, 1); left > 0; {
		var minDelta uint64
		if !next(&minDelta) || uint64(len(b)) < parts {
			return nil, errDamaged
		}
		widths := b[:parts]
		b = b[parts:]
		for _, width := range widths {
			if left == 0 {
				break
			}
			bytes := size / parts / 8 * uint64(width)
			if uint64(width) > bits || bytes > uint64(len(b)) {
				return nil, errDamaged
			}
			b = b[bytes:]
			left -= min(left, size/parts)
		}
	}
	return b, nil
}

// checkPrefixes makes sure that what values share with those before them is not too long.
func checkPrefixes(b []byte) error {
	return safely(func() error {
		shared, err := (&delta.BinaryPackedEncoding{}).DecodeInt32(nil, b)
		size := int64(0)
		for _, n := range shared {
			size += int64(n)
		}
		if size > maxPage {
			return errDamaged
		}
		return err
	})
}
