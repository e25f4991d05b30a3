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

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

var (
	errInfinite = &pageFault{"an infinite number", "finite numbers; nan is a missing value"}
	errNoText   = &pageFault{"bytes that are no text in UTF-8", "numbers, words, truth values, dates or times"}
)

// parquetColumn is a column of the schema, and how its values are written.
type parquetColumn struct {
	*schemaElement
	number func(dst []byte, v int64) []byte          // of truth values and whole numbers
	bytes  func(dst, b []byte) (_ []byte, err error) // of byte arrays
}

// prepare decides what the values mean, or says why the column can't be one of a table.
func (c *parquetColumn) prepare() (found, expected string) {
	c.number = func(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }
	c.bytes = appendText
	length := c.Length
	switch {
	case c.Children > 0 || c.Repetition == format.Repeated:
		return "a nested column", "plain columns; with Python: " +
			`pandas.read_parquet(FILE).drop(columns=[…]).to_parquet("table.parquet")`
	case c.Type < format.Boolean || c.Type > format.FixedLenByteArray:
		return fmt.Sprintf("type %d", c.Type), "a type of Parquet's, 0 to 7"
	case c.Type == format.FixedLenByteArray && (length < 1 || length > math.MaxInt16):
		return fmt.Sprintf("values of %d bytes", length), fmt.Sprintf("1 to %d", math.MaxInt16)
	case c.Logical.Valid && c.Logical.V.Value == nil:
		return "values of a type newtop does not know", errNoText.expected
	case c.Type == format.Boolean:
		c.number = func(dst []byte, v int64) []byte { return strconv.AppendBool(dst, v != 0) }
		return "", ""
	}
	whole := c.Type == format.Int32 || c.Type == format.Int64
	words := c.Type == format.ByteArray || c.Type == format.FixedLenByteArray
	switch of := c.meaning().(type) {
	case *format.DecimalType:
		if scale := int(of.Scale); scale >= 0 && scale <= 100 {
			c.number = func(dst []byte, v int64) []byte {
				return appendScaled(
					dst, strconv.AppendInt(nil, v, 10), scale)
			}
			c.bytes = func(dst, b []byte) ([]byte, error) { return appendBig(dst, b, scale) }
		}
	case *format.DateType:
		c.number = func(dst []byte, v int64) []byte { return unixDay(v, 0).AppendFormat(dst, time.DateOnly) }
	case *format.TimeType:
		c.number = func(dst []byte, v int64) []byte {
			return inUnits(of.Unit, v).AppendFormat(
				dst, "15:04:05.999999999")
		}
	case *format.TimestampType:
		c.number = func(dst []byte, v int64) []byte { return inUnits(of.Unit, v).AppendFormat(dst, timestamp) }
	case *format.IntType:
		if !of.IsSigned {
			c.number = appendUnsigned(c.Type)
		}
	case *format.UUIDType:
		if length == 16 {
			c.bytes = appendUUID
		}
	case *format.Float16Type:
		if length == 2 {
			c.bytes = func(dst, b []byte) ([]byte, error) {
				return appendFinite(
					dst, float16(binary.LittleEndian.Uint16(b)))
			}
		}
	case *format.BsonType, *format.VariantType, *format.GeometryType, *format.GeographyType:
		if words {
			return "values of the type " + of.String(), errNoText.expected
		}
	}
	if c.Converted.Valid && c.Converted.V == deprecated.Interval && !whole {
		return "spans of time", errNoText.expected
	}
	return "", ""
}

// meaning returns the logical type, also where only one of the older types is there.
func (c *parquetColumn) meaning() format.LogicalTypeValue {
	if of := c.Logical.V.Value; of != nil || !c.Converted.Valid {
		return of
	}
	millis, micros := format.TimeUnit{Value: &format.MilliSeconds{}}, format.TimeUnit{Value: &format.MicroSeconds{}}
	switch c.Converted.V {
	case deprecated.Decimal:
		return &format.DecimalType{Scale: c.Scale}
	case deprecated.Date:
		return &format.DateType{}
	case deprecated.TimeMillis:
		return &format.TimeType{Unit: millis}
	case deprecated.TimeMicros:
		return &format.TimeType{Unit: micros}
	case deprecated.TimestampMillis:
		return &format.TimestampType{Unit: millis}
	case deprecated.TimestampMicros:
		return &format.TimestampType{Unit: micros}
	case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
		return &format.IntType{}
	case deprecated.Bson:
		return &format.BsonType{}
	}
	return nil
}

// appendFinite appends a number that is not infinite.
func appendFinite(dst []byte, v float64) ([]byte, error) {
	if math.IsInf(v, 0) {
		return nil, errInfinite
	}
	return appendNumber(dst, v), nil
}

// appendUnsigned returns what appends whole numbers without a sign.
func appendUnsigned(of format.Type) func(dst []byte, v int64) []byte {
	if of == format.Int32 {
		return func(dst []byte, v int64) []byte { return strconv.AppendUint(dst, uint64(uint32(v)), 10) }
	}
	return func(dst []byte, v int64) []byte { return strconv.AppendUint(dst, uint64(v), 10) }
}

// unixDay returns a time on a day since 1970.
func unixDay(day, nanoseconds int64) time.Time { return time.Unix(day*86400, nanoseconds).UTC() }

// inUnits returns a time in units since 1970.
func inUnits(unit format.TimeUnit, v int64) time.Time {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return time.UnixMilli(v).UTC()
	case *format.MicroSeconds:
		return time.UnixMicro(v).UTC()
	}
	return time.Unix(0, v).UTC()
}

// timestamp is how ISO 8601 writes a time, with decimals of a second if there are any.
const timestamp = "2006-01-02T15:04:05.999999999"

// appendInt96 appends a time of Impala and old Spark: nanoseconds of the day, and the day by Julian's count.
func appendInt96(dst []byte, v deprecated.Int96) []byte {
	const epoch = 2440588
	return unixDay(int64(int32(v[2]))-epoch, int64(v[1])<<32|int64(v[0])).AppendFormat(dst, timestamp)
}

// appendScaled appends a whole number with its point moved.
func appendScaled(dst, digits []byte, scale int) []byte {
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale == 0 {
		return append(dst, digits...)
	}
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = append(bytes.Repeat([]byte{'0'}, missing), digits...)
	}
	point := len(digits) - scale
	dst = append(append(dst, digits[:point]...), '.')
	return append(dst, digits[point:]...)
}

// appendBig appends a whole number of any size, its highest byte first, with its point moved.
func appendBig(dst, b []byte, scale int) ([]byte, error) {
	if len(b) == 0 {
		return nil, errDamaged
	}
	v := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return appendScaled(dst, v.Append(nil, 10), scale), nil
}

func appendUUID(dst, b []byte) ([]byte, error) {
	for i, part := range [][]byte{b[:4], b[4:6], b[6:8], b[8:10], b[10:]} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, part)
	}
	return dst, nil
}

func appendText(dst, b []byte) ([]byte, error) {
	if !isText(b) {
		return nil, errNoText
	}
	return appendWord(dst, b), nil
}
