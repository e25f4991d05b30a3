package mpi

import (
	"maps"
	"os"
	"strings"
	"testing"
)

// alone unsets what a launcher, which may have started these tests too, tells a process.
func alone(t *testing.T) {
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{"OMPI_", "PMI", "PMIX_", "MPI_", "SLURM_", "FLUX_"} {
			if strings.HasPrefix(name, prefix) {
				t.Setenv(name, "") // which puts it back in the end
				os.Unsetenv(name)
			}
		}
	}
}

func TestLaunched(t *testing.T) {
	step := map[string]string{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "6", "SLURM_PROCID": "5", "SLURM_NTASKS": "6"}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(step)
		maps.Copy(all, more)
		return all
	}
	mpirun := map[string]string{"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
	for name, c := range map[string]struct {
		variables map[string]string
		want      Launch
	}{
		"nothing":             {nil, Launch{}},
		"mpirun":              {mpirun, Launch{"mpirun", 1, 4, 2}},
		"mpirun by Slurm":     {with(mpirun), Launch{"mpirun", 1, 4, 2}},
		"hydra":               {map[string]string{"PMI_RANK": "0", "PMI_SIZE": "3", "MPI_LOCALNRANKS": "3"}, Launch{"mpiexec", 0, 3, 3}},
		"hydra by Slurm":      {with(map[string]string{"PMI_RANK": "0", "PMI_SIZE": "3", "MPI_LOCALNRANKS": "3"}), Launch{"mpiexec", 0, 3, 3}},
		"srun":                {step, Launch{"srun", 5, 6, 0}},
		"srun --mpi=pmi2":     {with(map[string]string{"PMI_RANK": "5", "PMI_SIZE": "6"}), Launch{"srun", 5, 6, 0}},
		"flux":                {map[string]string{"FLUX_TASK_RANK": "2", "FLUX_JOB_SIZE": "3"}, Launch{"flux", 2, 3, 0}},
		"one process":         {map[string]string{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1"}, Launch{"mpirun", 0, 1, 0}},
		"batch script":        {map[string]string{"SLURM_PROCID": "0", "SLURM_NTASKS": "6", "SLURM_NPROCS": "6"}, Launch{}},
		"interactive shell":   {with(map[string]string{"SLURM_STEP_ID": "4294967290", "SLURM_PROCID": "0"}), Launch{}},
		"no such rank":        {map[string]string{"OMPI_COMM_WORLD_RANK": "4", "OMPI_COMM_WORLD_SIZE": "4"}, Launch{}},
		"not a number":        {map[string]string{"OMPI_COMM_WORLD_RANK": "x", "OMPI_COMM_WORLD_SIZE": "4"}, Launch{}},
		"no processes at all": {map[string]string{"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "0"}, Launch{}},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t)
			for name, value := range c.variables {
				t.Setenv(name, value)
			}
			got, ok := Launched()
			if got != c.want || ok != (c.want != Launch{}) {
				t.Errorf("%+v, %v, expected %+v", got, ok, c.want)
			}
		})
	}
}

func TestReachable(t *testing.T) {
	for _, c := range []struct {
		by, library, variable string
		refused               bool
	}{
		{"srun", "Open MPI 4.1.4", "", true},
		{"srun", "Open MPI 4.1.4", "PMIX_RANK", false},
		{"srun", "Open MPI 4.1.4", "PMI_FD", false},
		{"srun", "MPICH 4.0.2", "", false},
		{"mpirun", "Open MPI 4.1.4", "", false},
	} {
		alone(t)
		if c.variable != "" {
			t.Setenv(c.variable, "1")
		}
		err := reachable(Launch{By: c.by, Size: 2}, c.library)
		if (err != nil) != c.refused {
			t.Errorf("%+v: %v", c, err)
		}
		if c.variable != "" {
			os.Unsetenv(c.variable)
		}
	}
}

func TestForeign(t *testing.T) {
	for _, c := range []struct{ by, library, want string }{
		{"mpirun", "MPICH 4.0.2", "mpirun has started 4 processes, but this program's MPICH 4.0.2 sees 1: expected a program built with the mpicc of the MPI of mpirun"},
		{"srun", "MPICH 4.0.2", "of srun, or srun --mpi=pmi2"},
		{"srun", "Open MPI 5.0.1", "of srun, or srun --mpi=pmix"},
	} {
		if err := foreign(Launch{By: c.by, Size: 4}, c.library, 1); !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%v, expected %s", err, c.want)
		}
	}
}

func TestNameOf(t *testing.T) {
	for text, want := range map[string]string{
		"Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022": "Open MPI 4.1.4",
		"Open MPI v5.0.0rc1, package: x":                                           "Open MPI 5.0.0rc1",
		"MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7\nMPICH ABI: 14": "MPICH 4.0.2",
		"MVAPICH2 Version      :\t2.3.7\nMVAPICH2 Release date":                    "MVAPICH2 2.3.7",
		"Intel(R) MPI Library 2021.9 for Linux* OS\n":                              "Intel(R) MPI Library 2021.9 for Linux* OS",
		"\nSomething 1.0": "Something 1.0",
		"":                "MPI",
	} {
		if got := nameOf(text); got != want {
			t.Errorf("%q is %q, expected %q", text, got, want)
		}
	}
}

func TestSharing(t *testing.T) {
	all := []presence{
		{Host: "a", Processors: "0-3"}, {Host: "a", Processors: "0-3"}, {Host: "b", Processors: "0-3"},
		{Host: "c", Processors: "0,2"}, {Host: "c", Processors: "1,3-5"}, {Host: "d"}, {Host: "d", Processors: "7"},
	}
	for i, want := range []int{2, 2, 1, 1, 1, 2, 2} {
		if got := sharing(&all[i], all); got != want {
			t.Errorf("process %d shares with %d, expected %d", i, got, want)
		}
	}
}
