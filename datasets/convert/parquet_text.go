package convert

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"newtop/datasets/fault"
)

var (
	errInfinite = &pageFault{"an infinite number", "finite numbers; nan is a missing value"}
	errNoText   = &pageFault{"bytes that are no text in UTF-8", "numbers, words, truth values, dates or times"}
)

// meaning is what the stored numbers or bytes of a column are.
type meaning int

const (
	asStored meaning = iota
	asText
	asUnsigned
	asDecimal
	asDate
	asTime
	asTimestamp
	asUUID
	asFloat16
	asReal
	asTruth
	asUnread
)

// logical is what a column's values mean.
type logical struct {
	kind      int // number in the union of logical types; 0 without one
	converted int64
	scale     int64
	unit      int64 // of times: 1 for milliseconds, 2 microseconds, 3 nanoseconds
	signed    bool
	narrow    bool // unsigned in 32 bits
	of        meaning
}

// read reads a logical type.
func (l *logical) read(t *thrift) {
	t.structure(func(kind int) bool {
		l.kind = kind
		t.structure(func(field int) bool {
			switch {
			case kind == 5 && field == 1:
				l.scale = t.int()
			case (kind == 7 || kind == 8) && field == 2:
				t.structure(func(unit int) bool {
					l.unit = int64(unit)
					return false
				})
			case kind == 10 && field == 2:
				l.signed = t.bool()
			default:
				return false
			}
			return true
		})
		return true
	})
}

// check decides what the values mean, or returns an error without a place.
func (l *logical) check(c *parquetColumn) error {
	wrong := func(what string) error {
		return &fault.FormatError{Column: c.name, Found: what, Expected: "numbers, words, truth values, dates or times"}
	}
	if l.kind == 0 && l.converted >= 0 {
		l.kind = convertedKind(l)
	}
	number := c.physical == int32s || c.physical == int64s
	switch {
	case c.physical == boolean:
		l.of = asTruth
	case c.physical == floats, c.physical == doubles:
		l.of = asReal
	case c.physical == int96s:
		l.of, l.unit = asTimestamp, 3
	case l.kind == 5 && l.scale >= 0 && l.scale <= 100:
		l.of = asDecimal
	case l.kind == 6 && c.physical == int32s:
		l.of = asDate
	case l.kind == 7 && number && l.unit >= 1 && l.unit <= 3:
		l.of = asTime
	case l.kind == 8 && c.physical == int64s && l.unit >= 1 && l.unit <= 3:
		l.of = asTimestamp
	case l.kind == 10 && number && !l.signed:
		l.of, l.narrow = asUnsigned, c.physical == int32s
	case number:
		l.of = asStored
	case l.kind == 14 && c.length == 16:
		l.of = asUUID
	case l.kind == 15 && c.length == 2:
		l.of = asFloat16
	case l.kind == 13:
		return wrong("BSON documents")
	case l.kind > 15:
		return wrong("values of a type newtop does not know, " + strconv.Itoa(l.kind))
	case l.converted == 21:
		return wrong("spans of time")
	default:
		l.of = asText
	}
	return nil
}

// convertedKind returns the logical type for one of the older types, and its unit.
func convertedKind(l *logical) int {
	switch l.converted {
	case 5:
		return 5
	case 6:
		return 6
	case 7, 8:
		l.unit = l.converted - 6
		return 7
	case 9, 10:
		l.unit = l.converted - 8
		return 8
	case 11, 12, 13, 14:
		return 10
	case 20:
		return 13
	}
	return 0
}

// appendBits appends a number.
func (l *logical) appendBits(dst []byte, bits uint64) []byte {
	v := int64(bits)
	switch l.of {
	case asTruth:
		return strconv.AppendBool(dst, v != 0)
	case asReal:
		return appendNumber(dst, math.Float64frombits(bits))
	case asUnsigned:
		if l.narrow {
			bits = uint64(uint32(bits))
		}
		return strconv.AppendUint(dst, bits, 10)
	case asDecimal:
		return appendScaled(dst, strconv.AppendInt(nil, v, 10), int(l.scale))
	case asDate:
		return appendTime(dst, time.Unix(v*86400, 0).UTC(), false)
	case asTime:
		return l.time(v).AppendFormat(dst, "15:04:05.999999999")
	case asTimestamp:
		return appendTime(dst, l.time(v), true)
	}
	return strconv.AppendInt(dst, v, 10)
}

// time returns a time in units since 1970.
func (l *logical) time(v int64) time.Time {
	switch l.unit {
	case 1:
		return time.UnixMilli(v).UTC()
	case 2:
		return time.UnixMicro(v).UTC()
	}
	return time.Unix(0, v).UTC()
}

// appendScaled appends a whole number with its point moved.
func appendScaled(dst, digits []byte, scale int) []byte {
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale == 0 {
		return append(dst, digits...)
	}
	if lacking := scale + 1 - len(digits); lacking > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, lacking), digits...)
	}
	point := len(digits) - scale
	dst = append(append(dst, digits[:point]...), '.')
	return append(dst, digits[point:]...)
}

// texts returns the text of values that are bytes.
func (c *parquetColumn) texts(raw [][]byte) (v values, err error) {
	var all []byte
	ends := make([]int, len(raw))
	for i, b := range raw {
		if all, err = c.appendBytes(all, b); err != nil {
			return v, err
		}
		ends[i] = len(all)
	}
	v.text = make([][]byte, len(raw))
	for i, end := range ends {
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		v.text[i] = all[start:end:end]
	}
	return v, nil
}

// appendBytes appends the text of a value that is bytes.
func (c *parquetColumn) appendBytes(dst, b []byte) ([]byte, error) {
	if (c.physical == fixedArrays || c.physical == int96s) && len(b) != c.width() {
		return nil, &pageFault{fmt.Sprintf("a value of %d bytes", len(b)), strconv.Itoa(c.width())}
	}
	switch c.logical.of {
	case asTimestamp: // nanoseconds of the day, and the day by Julian's count
		const epoch = 2440588
		day := int64(int32(binary.LittleEndian.Uint32(b[8:]))) - epoch
		return appendTime(dst, time.Unix(day*86400, int64(binary.LittleEndian.Uint64(b))).UTC(), true), nil
	case asDecimal:
		if len(b) == 0 {
			return nil, errDamaged
		}
		v := new(big.Int).SetBytes(b)
		if b[0] >= 0x80 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return appendScaled(dst, v.Append(nil, 10), int(c.logical.scale)), nil
	case asUUID:
		for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
			if i > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, part)
		}
		return dst, nil
	case asFloat16:
		v := float16(binary.LittleEndian.Uint16(b))
		if math.IsInf(v, 0) {
			return nil, errInfinite
		}
		return appendNumber(dst, v), nil
	}
	if !isText(b) {
		return nil, errNoText
	}
	return appendWord(dst, b), nil
}
