//go:build mpi

package mpi

import (
	"fmt"
	"os"
	"testing"
)

// joined is what all tests of a process share, since MPI can be begun once; nil without a launcher.
var joined *bridge

// TestMain begins MPI if a launcher has started these tests, as
//
//	go test -tags mpi -exec "mpirun -np 3 --oversubscribe --mca btl tcp,self" ./trainer/mpi
//
// does. With NEWTOP_TEST_FUNNELED=1 one thread makes all calls.
func TestMain(m *testing.M) {
	if _, ok := Launched(); !ok {
		os.Exit(m.Run())
	}
	level := serialized
	if os.Getenv("NEWTOP_TEST_FUNNELED") == "1" {
		level = funneled
	}
	var err error
	if joined, err = connectAt(level); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if code != 0 {
		os.Exit(code) // the others may be waiting for this process
	}
	if err := joined.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// together returns what connects these tests to those in the other processes.
func together(t testing.TB) *bridge {
	if joined == nil {
		t.Skip(`needs a launcher: go test -tags mpi -exec "mpirun -np 2 --oversubscribe" ./trainer/mpi`)
	}
	return joined
}

// launched returns what connects these tests to those in other processes; nil where there are none.
func launched() transport {
	if joined == nil {
		return nil
	}
	return joined
}
