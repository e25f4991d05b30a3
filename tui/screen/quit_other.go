//go:build !unix

package screen

// OnQuit is for a signal that this system does not have.
func OnQuit(func()) (stop func()) { return func() {} }
