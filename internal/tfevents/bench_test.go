package tfevents

import (
	"bytes"
	"io"
	"testing"
)

func BenchmarkScalars(b *testing.B) {
	var file bytes.Buffer
	w, err := NewWriter(&file, 1)
	if err != nil {
		b.Fatal(err)
	}
	const n = 100_000
	for i := range int64(n) {
		w.Write(Scalar{"Loss/train", i, float64(i), 0.5}, Scalar{"Loss/test", i, float64(i), 0.25})
	}
	b.SetBytes(int64(file.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader(bytes.NewReader(file.Bytes()), "x")
		k := 0
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
			k++
		}
		if k != 2*n {
			b.Fatal(k)
		}
	}
}
