//go:build !unix

package screen

import "newtop/internal/routine"

// OnQuit has a panic in any goroutine call restore before the process ends, until stop is called.
func OnQuit(restore func()) (stop func()) { return routine.OnPanic(restore) }
