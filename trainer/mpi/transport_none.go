//go:build !mpi

package mpi

import "errors"

// Built reports whether this program can speak MPI: it was built with the tag mpi.
func Built() bool { return false }

func library() string { return "" }

func connect() (transport, error) { return nil, errors.New("this program was built without MPI") }
