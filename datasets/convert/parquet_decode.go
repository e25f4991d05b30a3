package convert

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
)

// The encodings, see https://parquet.apache.org/docs/file-format/data-pages/encodings.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// values are what a page holds: numbers as their bits (whole ones with their sign, floating ones in double precision), or text that
// is ready to be written.
type values struct {
	bits []uint64
	text [][]byte
}

func (v *values) len() int { return max(len(v.bits), len(v.text)) }

// decoder decodes the pages of a column.
type decoder struct {
	of         *parquetColumn
	unpacker   *zstd.Decoder // nil until it is needed
	dictionary values
	cells      cells
	count      int // rows
}

// cells are the values of a column of a row group; text is nil, and present false, for a missing one.
type cells struct {
	column  *parquetColumn
	bits    []uint64
	text    [][]byte
	present []bool // nil: all are
}

// append appends the text of a row.
func (c *cells) append(dst []byte, row int) []byte {
	switch {
	case c.present != nil && !c.present[row]:
		return dst
	case c.text != nil:
		return append(dst, c.text[row]...)
	}
	return c.column.logical.appendBits(dst, c.bits[row])
}

// values decodes count values of a page of n rows, of which those present have one.
func (d *decoder) values(encoding int64, b []byte, n, count int, present []bool) (err error) {
	var v values
	switch {
	case count == 0:
	case encoding == encodingPlain:
		v, err = d.plain(b, count)
	case encoding == encodingDictionary, encoding == encodingPlainDictionary:
		v, err = d.lookUp(b, count)
	case encoding == encodingRLE && d.of.physical == boolean:
		if b, _, err = prefixed(b); err != nil {
			return err
		}
		var bits []uint32
		bits, err = hybrid(b, 1, count)
		for _, bit := range bits {
			v.bits = append(v.bits, uint64(bit))
		}
	case encoding == encodingDelta && (d.of.physical == int32s || d.of.physical == int64s):
		v.bits, _, err = deltas(b, count)
		if d.of.physical == int32s {
			for i, x := range v.bits {
				v.bits[i] = uint64(int64(int32(x)))
			}
		}
	case encoding == encodingDeltaLength && d.of.physical == byteArrays:
		var raw [][]byte
		if raw, err = deltaLengths(b, count); err == nil {
			v, err = d.of.texts(raw)
		}
	case encoding == encodingDeltaBytes && (d.of.physical == byteArrays || d.of.physical == fixedArrays):
		var raw [][]byte
		if raw, err = deltaBytes(b, count); err == nil {
			v, err = d.of.texts(raw)
		}
	case encoding == encodingSplit && d.of.width() > 0 && d.of.physical != int96s:
		if b, err = join(b, count, d.of.width()); err == nil {
			v, err = d.plain(b, count)
		}
	default:
		return &pageFault{fmt.Sprintf("encoding %d of values of type %d", encoding, d.of.physical), "one that the format allows"}
	}
	if err != nil {
		return err
	}
	if v.len() < count {
		return errDamaged
	}
	d.add(v, n, present)
	return nil
}

// add adds the values of a page to the cells.
func (d *decoder) add(v values, n int, present []bool) {
	c := &d.cells
	if present != nil && c.present == nil {
		c.present = make([]bool, d.count, d.count+n)
		for i := range c.present {
			c.present[i] = true
		}
	}
	words := d.of.words()
	for i, next := 0, 0; i < n; i++ {
		here := present == nil || present[i]
		if c.present != nil {
			c.present = append(c.present, here)
		}
		switch {
		case !here && words:
			c.text = append(c.text, nil)
		case !here:
			c.bits = append(c.bits, 0)
		case words:
			c.text = append(c.text, v.text[next])
		default:
			c.bits = append(c.bits, v.bits[next])
		}
		if here {
			next++
		}
	}
	d.count += n
}

// lookUp decodes numbers of words in the dictionary.
func (d *decoder) lookUp(b []byte, n int) (v values, err error) {
	if len(b) == 0 {
		return v, errDamaged
	}
	index, err := hybrid(b[1:], int(b[0]), n)
	if err != nil {
		return v, err
	}
	for _, i := range index {
		if int(i) >= d.dictionary.len() {
			return v, errDamaged
		}
		if d.dictionary.text != nil {
			v.text = append(v.text, d.dictionary.text[i])
		} else {
			v.bits = append(v.bits, d.dictionary.bits[i])
		}
	}
	return v, nil
}

// width returns the bytes of a value, 0 where they are not fixed.
func (c *parquetColumn) width() int {
	switch c.physical {
	case int32s, floats:
		return 4
	case int64s, doubles:
		return 8
	case int96s:
		return 12
	case fixedArrays:
		return c.length
	}
	return 0
}

// words reports whether the values are bytes.
func (c *parquetColumn) words() bool {
	return c.physical == byteArrays || c.physical == fixedArrays || c.physical == int96s
}

// plain decodes n values that stand one behind the other.
func (d *decoder) plain(b []byte, n int) (v values, err error) {
	c := d.of
	width := c.width()
	if width > 0 && n > len(b)/width || c.physical == boolean && n > 8*len(b) || c.physical == byteArrays && n > len(b)/4 {
		return v, errDamaged
	}
	if c.words() {
		raw := make([][]byte, n)
		for i := range raw {
			if c.physical != byteArrays {
				raw[i] = b[i*width:][:width]
			} else if raw[i], b, err = prefixed(b); err != nil {
				return v, err
			}
		}
		return c.texts(raw)
	}
	v.bits = make([]uint64, n)
	for i := range v.bits {
		switch c.physical {
		case boolean:
			v.bits[i] = uint64(b[i/8] >> (i % 8) & 1)
		case int32s:
			v.bits[i] = uint64(int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
		case floats:
			v.bits[i] = math.Float64bits(float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))))
		default:
			v.bits[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
	}
	return v, c.finite(v.bits)
}

// finite returns an error if a floating number is infinite.
func (c *parquetColumn) finite(bits []uint64) error {
	if c.physical != floats && c.physical != doubles {
		return nil
	}
	for _, x := range bits {
		if math.IsInf(math.Float64frombits(x), 0) {
			return errInfinite
		}
	}
	return nil
}

// hybrid decodes n numbers of some bits that come in runs: of one number, or packed in eights.
func hybrid(b []byte, width, n int) ([]uint32, error) {
	if width > 32 {
		return nil, errDamaged
	}
	out := make([]uint32, 0, n)
	for len(out) < n {
		head, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, errDamaged
		}
		b = b[k:]
		left := uint64(n - len(out))
		if head&1 == 0 {
			bytes := (width + 7) / 8
			if len(b) < bytes || head == 0 {
				return nil, errDamaged
			}
			var word [4]byte
			copy(word[:], b[:bytes])
			b = b[bytes:]
			v := binary.LittleEndian.Uint32(word[:])
			for range min(head>>1, left) {
				out = append(out, v)
			}
			continue
		}
		count := head >> 1
		if count == 0 || width > 0 && count > uint64(len(b)/width) && left > 8*uint64(len(b)/width) {
			return nil, errDamaged
		}
		packed := b[:min(uint64(len(b)), min(count, 1<<40)*uint64(width))]
		b = b[len(packed):]
		for i := range min(8*min(count, 1<<40), left) {
			out = append(out, uint32(bitsAt(packed, i*uint64(width), width)))
		}
	}
	return out, nil
}

// bitsAt returns some bits from a bit on, the lowest first; bits behind the end are 0.
func bitsAt(b []byte, bit uint64, width int) (v uint64) {
	at, shift := bit/8, bit%8
	if at+9 <= uint64(len(b)) {
		v = binary.LittleEndian.Uint64(b[at:]) >> shift
		if shift > 0 {
			v |= uint64(b[at+8]) << (64 - shift)
		}
	} else {
		for i := uint64(0); i < 9 && at+i < uint64(len(b)); i++ {
			if 8*i >= shift {
				v |= uint64(b[at+i]) << (8*i - shift)
			} else {
				v |= uint64(b[at+i]) >> (shift - 8*i)
			}
		}
	}
	if width < 64 {
		v &= 1<<width - 1
	}
	return v
}

// deltas decodes n whole numbers that are stored as differences, and returns what is behind them.
func deltas(b []byte, n int) (out []uint64, rest []byte, err error) {
	var head [4]uint64 // values of a block, its parts, all values, the first value
	for i := range head {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return nil, nil, errDamaged
		}
		head[i], b = v, b[k:]
	}
	size, parts, total := head[0], head[1], head[2]
	if size == 0 || parts == 0 || size > 1<<20 || size%128 != 0 || size%parts != 0 || size/parts%32 != 0 || total > uint64(n) {
		return nil, nil, errDamaged
	}
	last := unzigzag(head[3])
	if total > 0 {
		out = append(out, last)
	}
	for uint64(len(out)) < total {
		least, k := binary.Uvarint(b)
		if k <= 0 || uint64(len(b)-k) < parts {
			return nil, nil, errDamaged
		}
		widths := b[k : k+int(parts)]
		b = b[k+int(parts):]
		for _, width := range widths {
			if uint64(len(out)) == total {
				break
			}
			bytes := size / parts / 8 * uint64(width)
			if width > 64 || bytes > uint64(len(b)) {
				return nil, nil, errDamaged
			}
			for i := range min(size/parts, total-uint64(len(out))) {
				last += unzigzag(least) + bitsAt(b[:bytes], i*uint64(width), int(width))
				out = append(out, last)
			}
			b = b[bytes:]
		}
	}
	return out, b, nil
}

func unzigzag(v uint64) uint64 { return v>>1 ^ -(v & 1) }

// deltaLengths decodes n byte arrays whose lengths come first.
func deltaLengths(b []byte, n int) ([][]byte, error) {
	lengths, b, err := deltas(b, n)
	if err != nil || len(lengths) < n {
		return nil, errDamaged
	}
	out := make([][]byte, n)
	for i, length := range lengths {
		if length > uint64(len(b)) {
			return nil, errDamaged
		}
		out[i], b = b[:length:length], b[length:]
	}
	return out, nil
}

// deltaBytes decodes n byte arrays that begin as the one before does.
func deltaBytes(b []byte, n int) ([][]byte, error) {
	prefixes, b, err := deltas(b, n)
	if err != nil || len(prefixes) < n {
		return nil, errDamaged
	}
	out, err := deltaLengths(b, n)
	if err != nil {
		return nil, err
	}
	size := uint64(0)
	for i, prefix := range prefixes {
		if prefix == 0 {
			continue
		}
		if i == 0 || prefix > uint64(len(out[i-1])) {
			return nil, errDamaged
		}
		if size += prefix; size > maxPage {
			return nil, errDamaged
		}
		out[i] = append(out[i-1][:prefix:prefix], out[i]...)
	}
	return out, nil
}

// join puts together values whose first bytes come first, then all second bytes, and so on.
func join(b []byte, n, width int) ([]byte, error) {
	if n > len(b)/width {
		return nil, errDamaged
	}
	stride := len(b) / width
	out := make([]byte, n*width)
	for i := range n {
		for k := range width {
			out[i*width+k] = b[k*stride+i]
		}
	}
	return out, nil
}
