package launch

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"newtop/internal/cli/print"
	"newtop/models/reduce"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/mpi"
)

// announcer passes events on, and says of a run that begins who trains it.
type announcer struct {
	trainer.Recorder
	group   *Group
	w       io.Writer
	threads int // of --threads
}

// Announcing returns a recorder that says how the group shares the work before r records its first event; r where this
// process trains by itself.
func (c *Group) Announcing(r trainer.Recorder, w io.Writer, threads int) trainer.Recorder {
	if c == nil || c.world == nil {
		return r
	}
	return &announcer{r, c, w, threads}
}

func (g *announcer) Record(e event.Event) error {
	if run, begins := e.(event.RunEvent); begins {
		about := g.group.world.About()
		if g.threads > 0 {
			about.Threads = []int{g.threads}
		}
		fmt.Fprintln(g.w, shares(&about, run.Data.TrainRows))
		if text := g.group.unused(parentProcessors(), runtime.NumCPU(), neighbours(about.Hosts)); text != "" {
			print.Warn(g.w, text)
		}
	}
	return g.Recorder.Record(e)
}

// shares says in one line which processes there are and what each has.
func shares(about *mpi.About, rows int) string {
	ranks := len(about.Hosts)
	tree := reduce.NewTree(rows)
	have := make([]int, ranks)
	for r := range have {
		first, last := tree.Rows(r, ranks)
		have[r] = last - first
	}
	order := "sums in fixed order"
	if about.Reduce == "fast" {
		order = "sums in MPI's order"
	}
	return fmt.Sprintf("%s on %s, %s each, %s each, %s, %s", print.CountRange(ranks, ranks, "rank"),
		print.Hosts(about.Hosts),
		print.CountRange(slices.Min(have), slices.Max(have), "row"),
		print.CountRange(slices.Min(about.Threads), slices.Max(about.Threads), "thread"),
		print.Printable(about.Library), order)
}

// neighbours returns how many processes are on process 0's host.
func neighbours(hosts []string) (n int) {
	for _, h := range hosts {
		if h == hosts[0] {
			n++
		}
	}
	return n
}

// unused warns of processors that nobody may use although the launcher may, which mpirun's habit of binding each
// process to one core comes to. srun binds to what was asked for.
func (c *Group) unused(launcher, bound, processes int) string {
	if c.launch.By == "srun" || processes*bound >= launcher {
		return ""
	}
	return fmt.Sprintf(
		"%s lets each process use %d of %d processors: to use all start with --map-by ppr:1:node --bind-to none",
		c.launch.By, bound, launcher)
}

// parentProcessors returns how many processors the process that started this one may use, or 0 where that is not to be
// had.
func parentProcessors() int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getppid()))
	if err != nil {
		return 0
	}
	_, list, _ := strings.Cut(string(text), "\nCpus_allowed_list:")
	list, _, _ = strings.Cut(list, "\n")
	return processors(strings.TrimSpace(list))
}

// processors counts what a list as 0-3,8 has; 0 for another text.
func processors(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, span := strings.Cut(part, "-")
		if !span {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || last < first {
			return 0
		}
		n += last - first + 1
	}
	return n
}
