package models

import (
	"os"
	"syscall"
	"unsafe"
)

// release gives the pages of memory that nobody reads again back to the system, which has zeros there if anybody does.
// The numbers have no pointers among them, and Go clears what it hands out again.
func release(x []float64) {
	page := os.Getpagesize()
	all := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
	ahead := -int(uintptr(unsafe.Pointer(unsafe.SliceData(all)))) & (page - 1)
	if size := (len(all) - ahead) &^ (page - 1); size > 0 {
		_ = syscall.Madvise(all[ahead:ahead+size], syscall.MADV_DONTNEED) // else it stays where it is
	}
}
