package convert

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
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

func BenchmarkNPY(b *testing.B) {
	const rows, columns = 60_000, 785
	r := rand.New(rand.NewPCG(1, 2))
	small := make([]byte, rows*columns)
	single := make([]byte, 4*len(small))
	for i := range small {
		small[i] = byte(r.Uint32())
		binary.LittleEndian.PutUint32(single[4*i:], math.Float32bits(r.Float32()))
	}
	for _, c := range []struct {
		descr  string
		values []byte
	}{{"|u1", small}, {"<f4", single}} {
		b.Run(c.descr[1:], func(b *testing.B) {
			file := npy(c.descr, false, fmt.Sprintf("(%d, %d)", rows, columns), c.values)
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				t, err := Open([]File{{"f.npy", bytes.NewReader(file), int64(len(file))}})
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

func BenchmarkParquet(b *testing.B) {
	file, err := os.ReadFile("testdata/apache/datapage_v1-snappy-compressed-checksum.parquet")
	if err != nil {
		b.Fatal(err)
	}
	const values = 2 * 5120
	for b.Loop() {
		t, err := Open([]File{{"f.parquet", bytes.NewReader(file), int64(len(file))}})
		if err != nil {
			b.Fatal(err)
		}
		if err := t.Texts[0].Write(io.Discard); err != nil {
			b.Fatal(err)
		}
		t.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/values, "ns/value")
}
