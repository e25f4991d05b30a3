package convert

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// npy returns an array as numpy.save writes it.
func npy(descr string, fortran bool, shape string, values []byte) []byte {
	order := "False"
	if fortran {
		order = "True"
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(b, header...), values...)
}

// BenchmarkConvert has arrays of numpy and a packed Parquet file.
func BenchmarkConvert(b *testing.B) {
	const rows, columns = 6_000, 785
	parquet, err := os.ReadFile("testdata/apache/datapage_v1-snappy-compressed-checksum.parquet")
	if err != nil {
		b.Fatal(err)
	}
	shape := fmt.Sprintf("(%d, %d)", rows, columns)
	for name, file := range map[string][]byte{
		"u1.npy": npy("|u1", false, shape, bytes.Repeat([]byte{1, 20, 255}, rows*columns/3)),
		"f4.npy": npy("<f4", false, shape, bytes.Repeat([]byte{219, 15, 73, 64}, rows*columns)), "v1.parquet": parquet,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				t, err := Open([]File{{name, bytes.NewReader(file), int64(len(file))}})
				if err != nil {
					b.Fatal(err)
				}
				if err := t.Texts[0].Write(io.Discard); err != nil {
					b.Fatal(err)
				}
				t.Close()
			}
		})
	}
}
