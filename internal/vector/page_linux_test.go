package vector

import (
	"syscall"
	"testing"
	"unsafe"
)

// TestPageBoundary puts all slices right before, and right after, memory that must not be touched.
func TestPageBoundary(t *testing.T) { inBoth(t, testPageBoundary[float64], testPageBoundary[float32]) }

func testPageBoundary[F Float](t *testing.T) {
	page := syscall.Getpagesize()
	inPage := page / size[F]()
	const most = 4
	type frame struct{ numbers []F }
	var frames []frame
	for range most {
		mem, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Munmap(mem) }()
		for _, forbidden := range [][]byte{mem[:page], mem[2*page:]} {
			if err := syscall.Mprotect(forbidden, syscall.PROT_NONE); err != nil {
				t.Fatal(err)
			}
		}
		frames = append(frames, frame{unsafe.Slice((*F)(unsafe.Pointer(&mem[page])), inPage)})
	}
	each(t, func(t *testing.T) {
		for _, f := range functions[F]() {
			for _, shape := range f.sizes() {
				rows, cols := shape[0], shape[1]
				if rows*cols > inPage {
					continue
				}
				for _, atEnd := range []bool{true, false} {
					var a [][]F
					for i, n := range f.lengths(rows, cols) {
						x := frames[i].numbers
						if atEnd {
							x = x[inPage-n:]
						}
						a = append(a, x[:n])
					}
					f.run(a, cols)
				}
			}
		}
	})
}
