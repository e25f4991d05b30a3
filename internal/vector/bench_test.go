package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"newtop/internal/kernel"
)

// BenchmarkElement takes blocks of 96 columns, as models does, and short vectors; 70 rows are beyond the first-level
// cache.
func BenchmarkElement(b *testing.B) {
	b.Run("float64", benchmarkElement[float64])
	b.Run("float32", benchmarkElement[float32])
}

func benchmarkElement[F Float](b *testing.B) {
	defer func(k kernel.Kernel) { active = k }(active)
	for _, f := range functions[F]() {
		for _, k := range kernel.Available() {
			active = k
			for _, size := range [][2]int{{70, 96}, {1, 96}, {1, 8}} {
				rows, cols := size[0], size[1]
				a := f.arguments(rand.New(rand.NewPCG(1, 2)), rows, cols)
				b.Run(fmt.Sprintf("%s/%s/%d", f.name, k, rows*cols), func(b *testing.B) {
					for b.Loop() {
						f.run(a, cols)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows*cols), "ns/element")
				})
			}
		}
	}
}
