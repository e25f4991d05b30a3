//go:build ignore

// Writes Parquet files with Apache Arrow's writer, and the table that they all are as parquet.want: a row a line, its fields parted by
// bars. Run in a module that requires github.com/apache/arrow-go/v18 v18.8.0: go run make_parquet.go DIRECTORY
package main

import (
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

const rows = 100

// column is a field and what is in its rows.
type column struct {
	arrow.Field
	put  func(b array.Builder, i int)
	text func(i int) string
}

func col(name string, t arrow.DataType, put func(b array.Builder, i int), text func(i int) string) column {
	return column{arrow.Field{Name: name, Type: t, Nullable: strings.HasSuffix(name, "?")}, put, text}
}

func real(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var word = []string{"red", "green", "blue, dark", `a "quoted" one`, "ünï", ""}

var columns = []column{
	col("double", arrow.PrimitiveTypes.Float64, func(b array.Builder, i int) { b.(*array.Float64Builder).Append(math.Sqrt(float64(i))) }, func(i int) string { return real(math.Sqrt(float64(i))) }),
	col("double?", arrow.PrimitiveTypes.Float64, func(b array.Builder, i int) { b.(*array.Float64Builder).Append(float64(i) / 8) }, func(i int) string { return real(float64(i) / 8) }),
	col("float", arrow.PrimitiveTypes.Float32, func(b array.Builder, i int) { b.(*array.Float32Builder).Append(float32(i) / 3) }, func(i int) string { return real(float64(float32(i) / 3)) }),
	col("half", arrow.FixedWidthTypes.Float16, func(b array.Builder, i int) { b.(*array.Float16Builder).Append(float16.New(float32(i) / 4)) }, func(i int) string { return real(float64(i) / 4) }),
	col("int8", arrow.PrimitiveTypes.Int8, func(b array.Builder, i int) { b.(*array.Int8Builder).Append(int8(i)) }, func(i int) string { return strconv.Itoa(int(int8(i))) }),
	col("uint32", arrow.PrimitiveTypes.Uint32, func(b array.Builder, i int) { b.(*array.Uint32Builder).Append(math.MaxUint32 - uint32(i)) }, func(i int) string { return strconv.Itoa(math.MaxUint32 - i) }),
	col("int64?", arrow.PrimitiveTypes.Int64, func(b array.Builder, i int) { b.(*array.Int64Builder).Append(int64(i-150) << 40) }, func(i int) string { return strconv.Itoa((i - 150) << 40) }),
	col("uint64", arrow.PrimitiveTypes.Uint64, func(b array.Builder, i int) { b.(*array.Uint64Builder).Append(math.MaxUint64 - uint64(i)) }, func(i int) string { return strconv.FormatUint(math.MaxUint64-uint64(i), 10) }),
	col("bool?", arrow.FixedWidthTypes.Boolean, func(b array.Builder, i int) { b.(*array.BooleanBuilder).Append(i%3 == 0) }, func(i int) string { return strconv.FormatBool(i%3 == 0) }),
	col("string", arrow.BinaryTypes.String, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(word[i%len(word)] + strconv.Itoa(i/50)) }, func(i int) string { return word[i%len(word)] + strconv.Itoa(i/50) }),
	col("string?", arrow.BinaryTypes.String, func(b array.Builder, i int) { b.(*array.StringBuilder).Append(word[i%len(word)]) }, func(i int) string { return word[i%len(word)] }),
	col("date", arrow.FixedWidthTypes.Date32, func(b array.Builder, i int) { b.(*array.Date32Builder).Append(arrow.Date32(i*100 - 5000)) }, func(i int) string {
		return time.Date(1970, 1, 1+i*100-5000, 0, 0, 0, 0, time.UTC).Format("2006-01-02")
	}),
	col("ms?", arrow.FixedWidthTypes.Timestamp_ms, func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(i) * 1e10) }, func(i int) string {
		return time.UnixMilli(int64(i) * 1e10).UTC().Format("2006-01-02T15:04:05.999")
	}),
	col("us", &arrow.TimestampType{Unit: arrow.Microsecond}, func(b array.Builder, i int) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(i)*1e13 + 5) }, func(i int) string {
		return time.UnixMicro(int64(i)*1e13 + 5).UTC().Format("2006-01-02T15:04:05.999999")
	}),
	col("clock", arrow.FixedWidthTypes.Time64us, func(b array.Builder, i int) { b.(*array.Time64Builder).Append(arrow.Time64(i) * 1e6) }, func(i int) string {
		return time.Unix(int64(i), 0).UTC().Format("15:04:05")
	}),
	col("decimal", &arrow.Decimal128Type{Precision: 30, Scale: 4}, func(b array.Builder, i int) {
		b.(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i-150) * 1e15))
	}, func(i int) string {
		sign := ""
		if i < 150 {
			sign, i = "-", 300-i
		}
		return fmt.Sprintf("%s%d.0000", sign, (i-150)*1e11)
	}),
}

func main() {
	log.SetFlags(0)
	for _, c := range []struct {
		name string
		p    []parquet.WriterProperty
	}{
		{"plain", []parquet.WriterProperty{parquet.WithDictionaryDefault(false)}},
		{"snappy", []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(128), parquet.WithDataPageSize(300)}},
		{"lz4", []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Lz4Raw), parquet.WithDataPageVersion(parquet.DataPageV2)}},
		{"gzip2", []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Gzip), parquet.WithDataPageVersion(parquet.DataPageV2)}},
		{"zstd", []parquet.WriterProperty{parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2),
			parquet.WithEncodingFor("double", parquet.Encodings.ByteStreamSplit), parquet.WithEncodingFor("float", parquet.Encodings.ByteStreamSplit),
			parquet.WithEncodingFor("int64?", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("int8", parquet.Encodings.DeltaBinaryPacked),
			parquet.WithEncodingFor("string", parquet.Encodings.DeltaByteArray), parquet.WithEncodingFor("string?", parquet.Encodings.DeltaLengthByteArray),
			parquet.WithEncodingFor("bool?", parquet.Encodings.RLE)}},
	} {
		if err := write(filepath.Join(os.Args[1], c.name+".parquet"), c.p); err != nil {
			log.Fatal(err)
		}
	}
}

func missing(c *column, i int) bool { return c.Nullable && i%7 == 3 }

func write(path string, p []parquet.WriterProperty) error {
	var fields []arrow.Field
	for _, c := range columns {
		fields = append(fields, c.Field)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	var want strings.Builder
	for j, c := range columns {
		if j > 0 {
			want.WriteByte('|')
		}
		want.WriteString(c.Name)
	}
	want.WriteByte('\n')
	for i := range rows {
		for j := range columns {
			c := &columns[j]
			if j > 0 {
				want.WriteByte('|')
			}
			if missing(c, i) {
				b.Field(j).AppendNull()
				continue
			}
			c.put(b.Field(j), i)
			want.WriteString(c.text(i))
		}
		want.WriteByte('\n')
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	record := b.NewRecord()
	w, err := pqarrow.NewFileWriter(record.Schema(), f, parquet.NewWriterProperties(p...), pqarrow.DefaultWriterProps())
	if err != nil {
		return err
	}
	if err := w.Write(record); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(filepath.Dir(path), "parquet.want"), []byte(want.String()), 0o644)
}
