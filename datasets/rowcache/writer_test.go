package rowcache

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Rows reach their places whatever the size of a chunk, also where a chunk's share of the memory is less than a row.
func TestWriter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, rows := range []int{2, 3, 64, 1000} {
		for _, size := range []int{1, 12, 40, 100, 1 << 12, 1 << 20} {
			out, err := os.Create(filepath.Join(t.TempDir(), "rows"))
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			w := &Writer{out: out}
			if err := w.begin(rows, []Column{{Width: 4}, {Width: 1}, {Width: 8}}, size); err != nil {
				t.Fatal(err)
			}
			want := make([]byte, rows*w.width)
			for _, place := range rng.Perm(rows) {
				values := []float64{float64(place), float64(rng.IntN(256)), rng.Float64()}
				w.encode(want[place*w.width:], values)
				if err := w.Put(place, values); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Order(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(out.Name())
			if err != nil || len(got) != int(w.offset(rows)) || !bytes.Equal(got[w.offset(0):], want) {
				t.Errorf("%d rows in chunks of %d bytes are not in order (%v)", rows, size, err)
			}
		}
	}
}
