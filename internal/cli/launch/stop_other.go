//go:build !unix

package launch

// stopAtRest does nothing where no process can be stopped from a terminal.
func stopAtRest() {}
