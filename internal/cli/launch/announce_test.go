package launch

import (
	"strings"
	"testing"

	"newtop/trainer/mpi"
)

func TestShares(t *testing.T) {
	for _, c := range []struct {
		hosts, reduce string
		rows          int
		threads       []int
		want          string
	}{
		{"n1 n1 n2 n2", "fixed", 4 * 32 * 96, []int{2, 2, 2, 2}, "4 ranks on 2 hosts (n1 ×2, n2 ×2), 3072 rows each, 2 threads each, Open MPI 4.1.4, sums in fixed order"},
		{"n1 n1", "fast", 200, []int{1, 3}, "2 ranks on 1 host (n1 ×2), 96 to 104 rows each, 1 to 3 threads each, Open MPI 4.1.4, sums in MPI's order"},
		{"a b c d e f", "fixed", 96 * 6, []int{1}, "6 ranks on 6 hosts (a ×1, b ×1, c ×1, d ×1, 2 more), 96 rows each, 1 thread each, Open MPI 4.1.4, sums in fixed order"},
	} {
		about := mpi.About{Library: "Open MPI 4.1.4", Hosts: strings.Fields(c.hosts), Reduce: c.reduce, Threads: c.threads}
		if got := shares(&about, c.rows); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestUnusedProcessors(t *testing.T) {
	for _, c := range []struct {
		by                         string
		launcher, bound, processes int
		warns                      bool
	}{
		{"mpirun", 8, 1, 2, true},
		{"mpirun", 8, 4, 2, false},
		{"mpirun", 2, 1, 2, false},
		{"mpirun", 0, 1, 1, false}, // not known
		{"srun", 8, 1, 2, false},   // as was asked for
	} {
		crew := Group{launch: mpi.Launch{By: c.by}}
		if text := crew.unused(c.launcher, c.bound, c.processes); (text != "") != c.warns {
			t.Errorf("%+v: %q", c, text)
		}
	}
	for list, want := range map[string]int{"0-3": 4, "0": 1, "0-1,4-7": 6, "": 0, "no": 0, "3-1": 0} {
		if got := processors(list); got != want {
			t.Errorf("%q has %d processors, expected %d", list, got, want)
		}
	}
}

// Kernels with other digits are worth a warning.
func TestMixedKernels(t *testing.T) {
	hosts := []string{"n1", "n2", "n3"}
	for kernels, want := range map[string]string{
		"avx2 avx512 avx2":     "",
		"generic generic":      "",
		"avx512 avx2 generic":  "process 2 on n3 computes with the kernel generic, and process 0 on n1 with avx512: ",
		"generic avx2 generic": "process 1 on n2 computes with the kernel avx2, and process 0 on n1 with generic: ",
	} {
		var said [][]byte
		for _, k := range strings.Fields(kernels) {
			said = append(said, []byte(k))
		}
		if got := mixed(said, hosts); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, expected %q", kernels, got, want)
		}
	}
}
