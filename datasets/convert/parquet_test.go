package convert

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"newtop/datasets/fault"
)

// Files that Apache Arrow wrote, with all codecs, encodings, kinds of pages and types, are the table that was written.
func TestParquetOfArrow(t *testing.T) {
	want, err := os.ReadFile("testdata/parquet.want")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plain", "snappy", "gzip2", "lz4", "zstd"} {
		t.Run(name, func(t *testing.T) {
			_, texts, err := convertAll(load(t, "testdata/"+name+".parquet"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, texts[0], string(want))
		})
	}
}

// Files of Impala, Spark and parquet-mr, whose contents arrow-go 18.8.0 tells, and the notes beside them.
func TestParquetOfOthers(t *testing.T) {
	for name, want := range map[string]string{
		"alltypes_plain.parquet": "id|bool_col|tinyint_col|smallint_col|int_col|bigint_col|float_col|double_col|date_string_col|string_col|timestamp_col\n" +
			"4|true|0|0|0|0|0|0|03/01/09|0|2009-03-01T00:00:00\n" +
			"5|false|1|1|1|10|1.100000023841858|10.1|03/01/09|1|2009-03-01T00:01:00\n" +
			"6|true|0|0|0|0|0|0|04/01/09|0|2009-04-01T00:00:00\n" +
			"7|false|1|1|1|10|1.100000023841858|10.1|04/01/09|1|2009-04-01T00:01:00\n" +
			"2|true|0|0|0|0|0|0|02/01/09|0|2009-02-01T00:00:00\n" +
			"3|false|1|1|1|10|1.100000023841858|10.1|02/01/09|1|2009-02-01T00:01:00\n" +
			"0|true|0|0|0|0|0|0|01/01/09|0|2009-01-01T00:00:00\n" +
			"1|false|1|1|1|10|1.100000023841858|10.1|01/01/09|1|2009-01-01T00:01:00\n",
		"alltypes_dictionary.parquet": "id|bool_col|tinyint_col|smallint_col|int_col|bigint_col|float_col|double_col|date_string_col|string_col|timestamp_col\n" +
			"0|true|0|0|0|0|0|0|01/01/09|0|2009-01-01T00:00:00\n1|false|1|1|1|10|1.100000023841858|10.1|01/01/09|1|2009-01-01T00:01:00\n",
		"float16_nonzeros_and_nans.parquet": "x\n \n1\n-2\n \n0\n-1\n-0\n2\n",
		"int96_from_spark.parquet": "a\n2024-01-01T20:34:56.123456\n2024-01-01T01:00:00\n9999-12-31T03:00:00\n2024-12-30T23:00:00\n \n" +
			"-294554-12-13T14:58:10.448384\n", // the year 290000, which Spark's microseconds lost
	} {
		t.Run(name, func(t *testing.T) {
			_, texts, err := convertAll(load(t, "testdata/apache/"+name))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, strings.ReplaceAll(texts[0], "\n\n", "\n\" \"\n"), want)
		})
	}
	file, err := os.ReadFile("testdata/apache/delta_encoding_optional_column_expect.csv")
	if err != nil {
		t.Fatal(err)
	}
	want, err := stdcsv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	_, texts, err := convertAll(load(t, filepath.Join("testdata/apache/delta_encoding_optional_column.parquet")))
	if err != nil {
		t.Fatal(err)
	}
	got := records(t, texts[0])
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := 1; i < len(want); i++ {
		if strings.Join(got[i], "|") != strings.Join(want[i], "|") {
			t.Fatalf("row %d: %q, want %q", i, got[i], want[i])
		}
	}
}

// The values of files in which an encoding or a codec is special, by a few that are known.
func TestParquetValues(t *testing.T) {
	for _, c := range []struct {
		name string
		rows int // with the names
		row  int
		want string
	}{
		{"byte_stream_split.zstd.parquet", 301, 1, "1.764052391052246|-1.3065268517353166"},
		{"byte_stream_split.zstd.parquet", 301, 2, "0.40015721321105957|1.658130679618188"},
		{"concatenated_gzip_members.parquet", 514, 107, "107"},
		{"fixed_length_decimal_legacy.parquet", 25, 24, "24.00"},
		{"rle_boolean_encoding.parquet", 69, 6, "false"},
		{"datapage_v1-snappy-compressed-checksum.parquet", 5121, 1, "50462976|1734763876"},
		{"lz4_raw_compressed.parquet", 5, 2, "1593604800|def|7.7"},
	} {
		_, texts, err := convertAll(load(t, "testdata/apache/"+c.name))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		lines := strings.Split(strings.TrimSuffix(texts[0], "\n"), "\n")
		if len(lines) != c.rows || strings.ReplaceAll(lines[c.row], ",", "|") != c.want {
			t.Errorf("%s: %d lines, line %d is %q", c.name, len(lines), c.row, lines[c.row])
		}
	}
}

// The older LZ4, whose frames are Hadoop's, is refused, and Brotli, which hardly anybody writes.
func TestParquetCodec(t *testing.T) {
	content := load(t, "testdata/apache/lz4_raw_compressed.parquet")
	b := make([]byte, content.Size)
	if err := content.readTo(b, 0); err != nil {
		t.Fatal(err)
	}
	b = bytes.ReplaceAll(b, []byte("c0\x15\x0e"), []byte("c0\x15\x0a")) // the codec: 7 to 5
	_, _, err := convertAll(named("f", b))
	if err == nil || !strings.Contains(err.Error(), `column "c0": found values packed by LZ4 (codec 5), expected Snappy, gzip, zstd or LZ4_RAW`) {
		t.Error(err)
	}
	if _, _, err = convertAll(load(t, "testdata/brotli.parquet")); err == nil ||
		!strings.Contains(err.Error(), "packed by BROTLI (codec 4), expected Snappy, gzip") {
		t.Error(err)
	}
}

// Runs as the format's description has them, of which one that is no whole number of bytes.
func TestParquetRuns(t *testing.T) {
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{[]byte{16 << 1, 1}, strings.Repeat("\x01", 16)},
		{[]byte{3 << 1, 1, 2 << 1, 0, 1<<1 | 1, 0xa5}, "\x01\x01\x01\x00\x00\x01\x00\x01\x00\x00\x01"}, // and padding
	} {
		if got, err := bits(c.b, len(c.want)); err != nil || string(got) != c.want {
			t.Errorf("%x: %v, %v", c.b, got, err)
		}
	}
}

// A number that is greater than what is there can be takes no memory.
func TestParquetSizes(t *testing.T) {
	great := []byte{0xfe, 0xff, 0xff, 0xff, 0x0f} // 2³²-2: a run of 2³¹-1, or so many values
	for name, read := range map[string]func() error{
		"run": func() error { _, err := bits(append(great, 1), 100); return err },
		"dictionary": func() error {
			d := decoder{of: &parquetColumn{}}
			_, err := d.lookUp(append([]byte{3}, append(great, 1)...), 100)
			return err
		},
		"delta": func() error {
			_, err := deltas(slices.Concat([]byte{128, 1, 4}, great, []byte{0}), 32, 100)
			return err
		},
		"list": func() error {
			_, err := readThrift(slices.Concat([]byte{0x29, 0xfc}, great, make([]byte, 100)), new(description))
			return err
		},
		"snappy": func() error { _, err := unpack(1, append(great, 0), 1<<20); return err },
		"zstd": func() error {
			_, err := unpack(6, slices.Concat([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x10}, make([]byte, 9)), 1<<20)
			return err
		},
		"lz4": func() error { _, err := unpack(7, []byte{0xf0, 0xff, 0xff}, 1<<20); return err },
	} {
		if size := allocated(func() {
			if read() == nil {
				t.Errorf("%s: no error", name)
			}
		}); size > 1<<20 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}

// Structures and lists in one another are refused before the stack is full.
func TestParquetNesting(t *testing.T) {
	for _, field := range []string{"\x1c", "\x19\x1c", "\x19", "\x1a", "\x1b\x01\xcc"} {
		if _, err := readThrift(bytes.Repeat([]byte(field), 16<<20/len(field)), new(description)); err == nil {
			t.Errorf("%q: no error", field)
		}
	}
}

// allocated returns how much memory a function takes, in bytes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// A file with a wrong byte anywhere is refused or read, in little memory.
func TestDamagedParquet(t *testing.T) {
	files, err := filepath.Glob("testdata/*.parquet")
	more, err2 := filepath.Glob("testdata/apache/*.parquet")
	if files = append(files, more...); err != nil || err2 != nil || len(files) < 15 {
		t.Fatal(files, err, err2)
	}
	r := rand.New(rand.NewPCG(7, 8))
	for _, name := range files {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			content := bytes.Clone(whole)
			at := r.IntN(len(content))
			content[at] = byte(r.Uint32())
			size := allocated(func() { _, _, err = convertAll(named("f", content)) })
			if _, ok := errors.AsType[*fault.FormatError](err); err != nil && !ok {
				t.Fatalf("%s, byte %d: %v", name, at, err)
			}
			if size > 1<<24 {
				t.Errorf("%s, byte %d as %d: %d bytes of memory", name, at, content[at], size)
			}
		}
	}
}
