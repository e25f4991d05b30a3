package machine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

// childrenInterval is how often the children of the watched process are looked for: that reads of every process.
const childrenInterval = 10 * time.Second

// table knows the watched process and its children from one sample to the next.
type table struct {
	known  map[int]*known
	polled time.Time
	at     time.Time
}

// keepBootTime has gopsutil read when the machine was booted once, and not again for every process.
var keepBootTime = sync.OnceFunc(func() { process.EnableBootTimeCache(true) })

// known is a process that was seen.
type known struct {
	*process.Process
	parent int
	of     Process // as of the newest sample
	sights int
}

// read sums up a process and its descendants; nil when it has ended, and for process 0.
func (t *table) read(ctx context.Context, pid int, now time.Time, gpu map[use]uint64) *Process {
	if pid == 0 {
		return nil
	}
	if t.known == nil {
		keepBootTime()
		t.known = map[int]*known{}
	}
	if now.Sub(t.polled) >= childrenInterval {
		t.poll(ctx, pid)
		t.polled = now
	}
	seconds := now.Sub(t.at).Seconds()
	if t.at.IsZero() {
		seconds = math.NaN()
	}
	t.at = now
	for pid, k := range t.known {
		if !k.read(ctx, seconds) {
			delete(t.known, pid)
		}
	}
	for u, bytes := range gpu {
		if k := t.known[u.pid]; k != nil {
			k.of.GPUMemory += bytes
		}
	}
	return t.tree(pid)
}

// poll finds the processes that descend from the watched one.
func (t *table) poll(ctx context.Context, watched int) {
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		pids = []int32{int32(watched)}
	}
	parents := make(map[int]int, len(pids))
	for _, pid := range pids {
		k := t.known[int(pid)]
		if k == nil {
			k = &known{Process: &process.Process{Pid: pid}}
		}
		parent, err := k.PpidWithContext(ctx)
		if err != nil {
			continue
		}
		k.parent = int(parent)
		parents[int(pid)], t.known[int(pid)] = k.parent, k
	}
	for pid := range t.known {
		if _, ok := parents[pid]; !ok || !descends(parents, pid, watched) {
			delete(t.known, pid)
		}
	}
	if k := t.known[watched]; k != nil && k.of.Name == "" {
		k.of.Name, _ = k.NameWithContext(ctx)
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
func (k *known) read(ctx context.Context, seconds float64) bool {
	times, err := k.TimesWithContext(ctx)
	if err != nil {
		return false
	}
	spent, before := times.User+times.System, k.of.Time
	switch {
	case k.sights > 0 && spent < before: // another process has its number
		*k = known{Process: &process.Process{Pid: k.Pid}, parent: k.parent}
		before = 0
	case k.sights == 0:
		seconds = math.NaN()
	}
	k.sights++
	k.of.PID, k.of.Count = int(k.Pid), 1
	k.of.CPU, k.of.Time = rate(spent, before, seconds), spent
	k.of.RSS, k.of.GPUMemory = 0, 0
	if m, err := k.MemoryInfoWithContext(ctx); err == nil {
		k.of.RSS = m.RSS
	}
	n, _ := k.NumThreadsWithContext(ctx)
	k.of.Threads = int(n)
	return true
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

// readUsers lists the processes that use GPUs. Name and user of a process are read when it is first seen.
func (s *Sampler) readUsers(ctx context.Context, out *Sample, memory map[use]uint64) {
	seen := map[int]GPUUser{}
	for u, bytes := range memory {
		i := slices.IndexFunc(out.GPUs, func(g GPU) bool { return g.UUID == u.gpu })
		if i < 0 {
			continue
		}
		user, ok := s.users[u.pid]
		if !ok {
			p := &process.Process{Pid: int32(u.pid)}
			user.PID = u.pid
			user.Name, _ = p.NameWithContext(ctx)
			user.User, _ = p.UsernameWithContext(ctx)
		}
		seen[u.pid] = user
		user.GPU, user.Memory = out.GPUs[i].Index, bytes
		out.GPUUsers = append(out.GPUUsers, user)
	}
	s.users = seen
	sortUsers(out.GPUUsers)
}

// sortUsers puts users in the order in which they are reported.
func sortUsers(users []GPUUser) {
	// Not slices.SortFunc: the copy of it for a struct of this size takes 23 kB of the program.
	sort.Slice(users, func(i, j int) bool {
		a, b := &users[i], &users[j]
		return cmp.Or(cmp.Compare(a.GPU, b.GPU), cmp.Compare(b.Memory, a.Memory), cmp.Compare(a.PID, b.PID)) < 0
	})
}
