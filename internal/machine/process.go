package machine

import (
	"cmp"
	"context"
	"math"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// lookForChildren is how often the children of the watched process are looked for: that reads of every process.
const lookForChildren = 10 * time.Second

// table knows processes from one sample to the next. It knows all of them where they are listed, otherwise the watched
// one and its children.
type table struct {
	known  map[int]*known
	users  map[uint32]string
	looked time.Time
	at     time.Time
}

// keepBootTime has gopsutil read when the machine was booted once, and not again for every process.
var keepBootTime = sync.OnceFunc(func() { process.EnableBootTimeCache(true) })

// known is a process that was seen.
type known struct {
	*process.Process
	parent  int
	of      Process // as of the newest sample
	sights  int
	younger bool // it has begun since the sample before, so that all of its time was spent since
}

// read tells of the watched process, and lists all if asked.
func (t *table) read(ctx context.Context, o *Options, out *Sample, gpu map[int]uint64) {
	if o.PID == 0 && !o.Processes {
		return
	}
	if t.known == nil {
		keepBootTime()
		t.known, t.users = map[int]*known{}, map[uint32]string{}
	}
	if anew := out.At.Sub(t.looked) >= lookForChildren; anew || o.Processes {
		t.look(ctx, o, anew)
		if anew {
			t.looked = out.At
		}
	}
	seconds := out.At.Sub(t.at).Seconds()
	if t.at.IsZero() {
		seconds = math.NaN()
	}
	t.at = out.At
	for pid, k := range t.known {
		if !k.read(ctx, seconds, !o.Processes) {
			delete(t.known, pid)
			continue
		}
		k.of.GPUMemory = gpu[pid]
	}
	out.Process = t.tree(o.PID)
	if !o.Processes {
		return
	}
	out.Processes = make([]Process, 0, len(t.known))
	for _, k := range t.known {
		t.describe(ctx, k)
		out.Processes = append(out.Processes, k.of)
	}
	slices.SortFunc(out.Processes, func(a, b Process) int {
		return cmp.Or(cmp.Compare(b.CPU, a.CPU), cmp.Compare(b.GPUMemory, a.GPUMemory), cmp.Compare(b.RSS, a.RSS),
			cmp.Compare(a.PID, b.PID))
	})
}

// look finds the processes that are there, and anew says that those that are known may have other parents.
func (t *table) look(ctx context.Context, o *Options, anew bool) {
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		pids = []int32{int32(o.PID)}
	}
	parents := make(map[int]int, len(pids))
	for _, pid := range pids {
		k := t.known[int(pid)]
		if k == nil {
			k = &known{Process: &process.Process{Pid: pid}, younger: o.Processes && !t.looked.IsZero()}
		}
		if anew || k.sights == 0 {
			parent, err := k.PpidWithContext(ctx)
			if err != nil {
				continue
			}
			k.parent = int(parent)
		}
		parents[int(pid)], t.known[int(pid)] = k.parent, k
	}
	for pid := range t.known {
		if _, ok := parents[pid]; !ok || !o.Processes && !descends(parents, pid, o.PID) {
			delete(t.known, pid)
		}
	}
	if k := t.known[o.PID]; k != nil {
		t.describe(ctx, k)
	}
}

// descends reports whether a process is another one or descends from it.
func descends(parents map[int]int, pid, from int) bool {
	for range len(parents) { // parents that are read one by one may form a ring
		if pid == from {
			return true
		}
		parent, ok := parents[pid]
		if !ok || parent == pid {
			return false
		}
		pid = parent
	}
	return false
}

// read reads what changes of a process; false when it has ended.
func (k *known) read(ctx context.Context, seconds float64, threads bool) bool {
	times, err := k.TimesWithContext(ctx)
	if err != nil {
		return false
	}
	spent, before := times.User+times.System, k.of.Time
	switch {
	case k.sights > 0 && spent < before: // another process has its number
		*k = known{Process: &process.Process{Pid: k.Pid}, parent: k.parent}
		before = 0
	case k.sights == 0 && !k.younger:
		seconds = math.NaN()
	}
	k.sights++
	k.of.PID, k.of.Count = int(k.Pid), 1
	k.of.CPU, k.of.Time = rate(spent, before, seconds), spent
	k.of.RSS = 0
	if m, err := k.MemoryInfoWithContext(ctx); err == nil {
		k.of.RSS = m.RSS
	}
	if threads {
		n, _ := k.NumThreadsWithContext(ctx)
		k.of.Threads = int(n)
	}
	return true
}

// describe finds out what a process is called, and again at the second sight: it may have begun as a copy of its
// parent.
func (t *table) describe(ctx context.Context, k *known) {
	if k.of.Name != "" && k.sights != 2 {
		return
	}
	fresh := &process.Process{Pid: k.Pid} // the name is kept by the other one
	k.of.Name, _ = fresh.NameWithContext(ctx)
	k.of.Command, _ = fresh.CmdlineWithContext(ctx)
	k.of.Command = strings.TrimSpace(k.of.Command)
	if k.of.Command == "" { // the kernel's own
		k.of.Command = "[" + k.of.Name + "]"
	}
	ids, err := fresh.UidsWithContext(ctx)
	if err != nil || len(ids) == 0 {
		k.of.User, _ = fresh.UsernameWithContext(ctx)
		return
	}
	name, ok := t.users[ids[0]]
	if !ok {
		name = strconv.Itoa(int(ids[0]))
		if u, err := user.LookupId(name); err == nil {
			name = u.Username
		}
		t.users[ids[0]] = name
	}
	k.of.User = name
}

// tree sums up a process and its descendants; nil when it has ended.
func (t *table) tree(pid int) *Process {
	k := t.known[pid]
	if k == nil || pid == 0 {
		return nil
	}
	sum := k.of
	parents := make(map[int]int, len(t.known))
	for p, k := range t.known {
		parents[p] = k.parent
	}
	for p, k := range t.known {
		if p == pid || !descends(parents, p, pid) {
			continue
		}
		if k.of.CPU == k.of.CPU {
			sum.CPU += k.of.CPU
		}
		sum.Time += k.of.Time
		sum.RSS += k.of.RSS
		sum.Threads += k.of.Threads
		sum.GPUMemory += k.of.GPUMemory
		sum.Count++
	}
	return &sum
}
