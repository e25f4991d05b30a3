//go:build !unix

package stream

import "errors"

// Program is a program that runs in a terminal of its own. Here there are none.
type Program struct{ Source }

// Start refuses.
func Start([]string, Beside) (*Program, error) {
	return nil, errors.New(
		"programs can't be run in a terminal of their own on this system: expected PROGRAM | newtop watch -")
}

// PID is 0.
func (*Program) PID() int { return 0 }

// Stop does nothing.
func (*Program) Stop() {}

// End does nothing.
func (*Program) End() {}

// Status is nil.
func (*Program) Status() error { return nil }
