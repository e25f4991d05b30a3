package blas

import (
	"fmt"
	"testing"

	"newtop/internal/kernel"
)

// checkTranspose transposes numbers that say where they come from, and looks at all of dst and around it.
func checkTranspose[F Float](k kernel.Kernel, rows, cols, srcGap, dstGap, shift int) error {
	const guard = 16
	srcStride, dstStride := cols+srcGap, rows+dstGap
	src := make([]F, shift+(rows-1)*srcStride+cols)[shift:]
	for i := range src {
		src[i] = F(i)
	}
	room := make([]F, 2*guard+(cols-1)*dstStride+rows)
	for i := range room {
		room[i] = -1
	}
	dst := room[guard : len(room)-guard : len(room)-guard]
	transpose(k, dst, dstStride, src, srcStride, rows, cols)
	for i, got := range room {
		want := F(-1)
		if at := i - guard; at >= 0 && at < len(dst) && at%dstStride < rows {
			want = F(at%dstStride*srcStride + at/dstStride)
		}
		if got != want {
			return fmt.Errorf("%v: %d × %d, strides %d to %d: number %d is %v, want %v",
				k, rows, cols, srcStride, dstStride, i-guard, got, want)
		}
	}
	return nil
}

func TestTranspose(t *testing.T) { inBoth(t, testTranspose[float64], testTranspose[float32]) }

func testTranspose[F Float](t *testing.T) {
	eachKernel(t, func(t *testing.T, k kernel.Kernel) {
		for rows := 1; rows <= 27; rows++ {
			for cols := 1; cols <= 27; cols++ {
				if err := checkTranspose[F](k, rows, cols, cols%3, rows%4, rows%8); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, size := range [][2]int{{70, 96}, {96, 70}, {1, 1000}, {1000, 1}, {129, 257}} {
			if err := checkTranspose[F](k, size[0], size[1], 0, 0, 3); err != nil {
				t.Fatal(err)
			}
		}
	})
}
