package mpi

import "time"

// transport is what is asked of MPI: Collectives, and what a Comm needs besides: single numbers and texts, short
// messages that a process can wait for without taking a core's time, and a look at who is still there. Its methods that
// all processes call must be called in the same order; those marked alone need nobody else. Several goroutines may call
// them.
type transport interface {
	Collectives
	// Send and Receive bring x from one process to another. Alone, each of two.
	Send(x []float64, to int) error
	Receive(x []float64, from int) error
	// Gather returns in process 0 what each process said, in order; nil elsewhere.
	Gather(text []byte) ([][]byte, error)
	Close() error

	// library and host describe MPI and this machine. Alone.
	library() string
	host() (string, error)
	// bcastBytes brings process 0's text to all, who know its length.
	bcastBytes(text []byte) error

	// ring sends a message of process 0 to all others, who listen for it, then ask whether they have heard it, without
	// a pause for as long as spin says. Every message heard is followed by another listen, but the last.
	ring(m message) error
	listen() error
	heard(spin time.Duration) (m message, come bool, err error)

	// ready says that this process has come so far, and allReady reports whether all have, asking as heard does.
	ready() error
	allReady(spin time.Duration) (bool, error)

	// note sends a number to another process, which asks for one with notes. Alone.
	note(to int, note int64) error
	notes() (from int, note int64, come bool, err error)

	// probe reports whether something to Receive from a process has come. Alone.
	probe(from int) (bool, error)
}
