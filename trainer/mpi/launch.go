package mpi

import (
	"os"
	"strconv"
)

// Launch is what started this process beside others.
type Launch struct {
	By         string // mpirun, mpiexec, srun or flux
	Rank, Size int
	Local      int // how many of the processes are on this machine; 0 if not known
}

// launcher says in which variables a launcher tells a process who it is.
type launcher struct{ by, rank, size, local string }

// launchers are asked in this order: mpirun and mpiexec may themselves have been started by Slurm or Flux, whose
// variables are then about their daemons.
var launchers = []launcher{
	{by: "mpirun", rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE", local: "OMPI_COMM_WORLD_LOCAL_SIZE"},
	{by: "mpiexec", rank: "PMI_RANK", size: "PMI_SIZE", local: "MPI_LOCALNRANKS"},
	{by: "srun", rank: "SLURM_PROCID", size: "SLURM_STEP_NUM_TASKS"},
	{by: "flux", rank: "FLUX_TASK_RANK", size: "FLUX_JOB_SIZE"},
}

// Launched returns what the launcher says in the environment. ok is false without one, and in a script that Slurm runs
// once for a whole job.
func Launched() (l Launch, ok bool) {
	for _, v := range launchers {
		rank, known := number(v.rank)
		size, sized := number(v.size)
		if !known || !sized || size < 1 || rank >= size {
			continue
		}
		l := Launch{By: v.by, Rank: rank, Size: size}
		l.Local, _ = number(v.local)
		if _, direct := number("MPI_LOCALNRANKS"); v.by == "mpiexec" && !direct && inStep() {
			l.By = "srun" // which speaks as mpiexec does where it was told --mpi=pmi2
		}
		if l.By == "srun" && !inStep() {
			continue
		}
		return l, true
	}
	return Launch{}, false
}

// inStep reports whether srun started this process. The script of a batch job, and the shell of an interactive one, are
// steps too, whose numbers lie at the upper end of 32 bits.
func inStep() bool {
	const firstSpecial = 0xfffffff0
	step, ok := number("SLURM_STEP_ID")
	return ok && step < firstSpecial
}

// number returns an environment variable that is a whole number ≥ 0.
func number(name string) (int, bool) {
	n, err := strconv.ParseUint(os.Getenv(name), 10, 32)
	return int(n), err == nil
}
