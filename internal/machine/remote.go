package machine

import (
	"context"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
)

// script has a POSIX shell print what a sample is made of, each part behind a line with an @. All of it is read, and
// what is missing is left out. Nothing in it comes from elsewhere but numbers of processes, which are checked.
const script = `echo @stat; grep '^cpu' /proc/stat; echo @load; cat /proc/loadavg; echo @mem; cat /proc/meminfo
echo @blocks; ls /sys/block; echo @disks; cat /proc/diskstats; echo @net; cat /proc/net/dev
echo @df; df -P -k .
echo @gpus; nvidia-smi --query-gpu=` + gpuFields + ` --format=csv,noheader,nounits
echo @apps; a=$(nvidia-smi --query-compute-apps=` + processFields + ` --format=csv,noheader,nounits); echo "$a"
echo @users; for p in $(echo "$a" | cut -d, -f2); do case $p in *[!0-9]*) ;; *)
echo "$p $(stat -c %U /proc/$p) $(cat /proc/$p/comm)";; esac; done
echo @amd; cd /sys/class/drm && grep -s . card*/device/vendor card*/device/device card*/device/product_name ` +
	`card*/device/gpu_busy_percent card*/device/mem_info_vram_* card*/device/hwmon/hwmon*/temp1_input ` +
	`card*/device/hwmon/hwmon*/power1_* card*/device/hwmon/hwmon*/freq1_input /dev/null; :`

// Remote reads samples of another machine, on which a shell runs scripts.
type Remote struct {
	run  func(ctx context.Context, script string) ([]byte, error)
	mu   sync.Mutex // held while a sample is read
	host host
}

// NewRemote returns a reader of samples. run has the machine's shell run a script, and returns what that prints.
func NewRemote(run func(ctx context.Context, script string) ([]byte, error)) *Remote {
	return &Remote{run: run}
}

// Sample reads how the machine does.
func (r *Remote) Sample(ctx context.Context) (Sample, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := r.run(ctx, script)
	if err != nil {
		return Sample{}, err
	}
	return r.parse(string(text), time.Now()), nil
}

// parse reads what the script printed at a time.
func (r *Remote) parse(text string, at time.Time) Sample {
	parts, part := map[string][]string{}, ""
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); strings.HasPrefix(line, "@") {
			part = line
		} else {
			parts[part] = append(parts[part], line)
		}
	}
	nan := math.NaN()
	s := Sample{At: at, CPU: nan, CPULimit: nan, Load: [3]float64{nan, nan, nan}}
	var cores []cpu.TimesStat
	for _, line := range parts["@stat"] {
		if f := strings.Fields(line); len(f) > 8 && f[0] != "cpu" {
			at := func(i int) float64 { return number(f[i], 1) }
			cores = append(cores, cpu.TimesStat{User: at(1), Nice: at(2), System: at(3), Idle: at(4), Iowait: at(5),
				Irq: at(6), Softirq: at(7), Steal: at(8)})
		}
	}
	if f := fieldsAt(parts["@load"], 0); len(f) > 2 {
		s.Load = [3]float64{number(f[0], 1), number(f[1], 1), number(f[2], 1)}
	}
	memory := map[string]uint64{}
	for _, line := range parts["@mem"] {
		if f := strings.Fields(line); len(f) > 1 {
			n, _ := strconv.ParseUint(f[1], 10, 50)
			memory[f[0]] = n << 10
		}
	}
	s.MemoryTotal = memory["MemTotal:"]
	s.MemoryUsed = s.MemoryTotal - min(memory["MemAvailable:"], s.MemoryTotal)
	s.SwapUsed = memory["SwapTotal:"] - min(memory["SwapFree:"], memory["SwapTotal:"])
	if f := fieldsAt(parts["@df"], 1); len(f) > 4 {
		used, _ := strconv.ParseUint(f[2], 10, 50)
		free, _ := strconv.ParseUint(f[3], 10, 50)
		s.DiskUsed, s.DiskTotal = used<<10, (used+free)<<10
	}
	r.host.take(&s, cores, counters(parts))
	for _, line := range parts["@gpus"] {
		if g, ok := parseGPU(line); ok {
			s.GPUs = append(s.GPUs, g)
		}
	}
	s.GPUUsers = remoteUsers(parts, s.GPUs)
	s.GPUs = append(s.GPUs, remoteCards(parts["@amd"], len(s.GPUs))...)
	return s
}

// fieldsAt are the words of a line, if there is one.
func fieldsAt(lines []string, i int) []string {
	if i >= len(lines) {
		return nil
	}
	return strings.Fields(lines[i])
}

// counters are the bytes that were read, written, received and sent.
func counters(parts map[string][]string) (n [4]float64) {
	const sector = 512
	for _, line := range parts["@disks"] {
		if f := strings.Fields(line); len(f) > 9 && slices.Contains(parts["@blocks"], f[2]) && wholeDisk(f[2]) {
			n[0] += number(f[5], sector)
			n[1] += number(f[9], sector)
		}
	}
	for _, line := range parts["@net"] {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if f := strings.Fields(rest); ok && len(f) > 8 && outward(name) {
			n[2] += number(f[0], 1)
			n[3] += number(f[8], 1)
		}
	}
	return n
}

func remoteUsers(parts map[string][]string, gpus []GPU) (users []GPUUser) {
	known := map[int]GPUUser{}
	for _, line := range parts["@users"] {
		f := strings.SplitN(line, " ", 3)
		if pid, err := strconv.Atoi(f[0]); err == nil && len(f) == 3 {
			known[pid] = GPUUser{Name: f[2], User: f[1]}
		}
	}
	for _, line := range parts["@apps"] {
		of, bytes, ok := parseProcess(line)
		i := slices.IndexFunc(gpus, func(g GPU) bool { return g.UUID == of.gpu })
		if ok && i >= 0 {
			u := known[of.pid]
			u.GPU, u.PID, u.Memory = gpus[i].Index, of.pid, bytes
			users = append(users, u)
		}
	}
	sortUsers(users)
	return users
}

// remoteCards reads lines FILE:TEXT of sysfs.
func remoteCards(lines []string, next int) (gpus []GPU) {
	texts := map[string]string{}
	var dirs []string
	for _, line := range lines {
		name, text, _ := strings.Cut(line, ":")
		texts[name] = strings.TrimSpace(text)
		card, rest, _ := strings.Cut(name, "/")
		if dir := card + "/device"; strings.HasPrefix(rest, "device/") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	read := func(name string) string { return texts[name] }
	sensors := func(dir string) string {
		for name := range texts {
			if strings.HasPrefix(name, dir+"/hwmon/") {
				return path.Dir(name)
			}
		}
		return ""
	}
	for i, c := range cardsOf(dirs, read, sensors) {
		gpus = append(gpus, c.read(next+i))
	}
	return gpus
}

// NearlyFull is the share from which on memory or a disk is all but used up, where that ends a run.
const NearlyFull = 0.95

// Trouble is something of a machine that its user should know, reported once until it is over.
type Trouble struct {
	Kind string // what it is of, as "memory" or "gpu3"
	Text string
}

// Troubles finds troubles in the samples of a machine, given one after another.
type Troubles struct {
	idle map[int]time.Time // since when a GPU does nothing while a process has it
}

// What a GPU is when it is idle, and for how long it may be while a process has it.
const (
	idleShare = 0.01
	maxIdle   = 10 * time.Minute
)

// See returns what there is of trouble.
func (t *Troubles) See(s *Sample) (found []Trouble) {
	percent := func(used, total uint64) string {
		return strconv.Itoa(int(math.Round(100*float64(used)/float64(total)))) + " %"
	}
	full := func(kind string, used, total uint64) {
		if total > 0 && float64(used) >= NearlyFull*float64(total) {
			found = append(found, Trouble{kind, kind + " " + percent(used, total) + " full"})
		}
	}
	full("memory", s.MemoryUsed, s.MemoryTotal)
	full("disk", s.DiskUsed, s.DiskTotal)
	if t.idle == nil {
		t.idle = map[int]time.Time{}
	}
	for _, g := range s.GPUs {
		user := slices.IndexFunc(s.GPUUsers, func(u GPUUser) bool { return u.GPU == g.Index })
		since, was := t.idle[g.Index]
		switch {
		case user < 0 || !(g.Busy <= idleShare):
			delete(t.idle, g.Index)
		case !was:
			t.idle[g.Index] = s.At
		case s.At.Sub(since) >= maxIdle:
			u, name := s.GPUUsers[user], "gpu"+strconv.Itoa(g.Index)
			found = append(found, Trouble{name, name + " idle for " +
				strconv.Itoa(int(s.At.Sub(since).Minutes())) + " min while process " + strconv.Itoa(u.PID) + " has it"})
		}
	}
	return found
}
