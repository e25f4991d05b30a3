package machine

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/common"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant writes files, by their names beneath a directory.
func plant(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// onLinux skips a test of what only Linux has.
func onLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc and /sys")
	}
}

// procIn is a context in which a directory stands for /proc.
func procIn(t *testing.T, dir string) context.Context {
	return context.WithValue(t.Context(), common.EnvKey, common.EnvMap{common.HostProcEnvKey: dir})
}

// stat is a line of /proc/PID/stat as proc(5) has it.
func stat(pid, parent, user, system int) string {
	return strconv.Itoa(pid) + " (python) S " + strconv.Itoa(parent) + " 1 1 0 -1 4194560 10 0 0 0 " + strconv.Itoa(user) + " " + strconv.Itoa(system) +
		" 0 0 20 0 3 0 500 100000000 1000 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
}

// processFiles are those of a process.
func processFiles(pid, parent, user, system, pages int) map[string]string {
	dir := strconv.Itoa(pid) + "/"
	return map[string]string{
		dir + "stat":    stat(pid, parent, user, system),
		dir + "statm":   "24414 " + strconv.Itoa(pages) + " 500 1 0 200 0\n",
		dir + "status":  "Name:\tpython\nState:\tS (sleeping)\nTgid:\t" + strconv.Itoa(pid) + "\nPPid:\t" + strconv.Itoa(parent) + "\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nThreads:\t3\n",
		dir + "comm":    "python\n",
		dir + "cmdline": "python\x00train.py\x00--lr\x000.1\x00",
	}
}

// newProc plants a machine with two cores, 24 GiB, two disks and some network devices.
func newProc(t *testing.T) (proc, sys string) {
	proc, sys = t.TempDir(), t.TempDir()
	plant(t, proc, map[string]string{
		"stat":    "cpu  300 0 100 1600 0 0 0 0 0 0\ncpu0 200 0 50 750 0 0 0 0 0 0\ncpu1 100 0 50 850 0 0 0 0 0 0\nbtime 1700000000\nprocesses 5\n",
		"loadavg": "1.90 1.20 0.80 2/300 4321\n", "uptime": "1000.00 1500.00\n",
		"meminfo":     "MemTotal:       25165824 kB\nMemFree:         1000000 kB\nMemAvailable:   12582912 kB\nSwapTotal:       1048576 kB\nSwapFree:         524288 kB\n",
		"diskstats":   "   8       0 sda 10 0 2000 5 10 0 4000 5 0 10 10\n   8       1 sda1 10 0 2000 5 10 0 4000 5 0 10 10\n 253 0 dm-0 10 0 2000 5 10 0 4000 5 0 10 10\n",
		"net/dev":     "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n    lo: 9999 1 0 0 0 0 0 0 9999 1 0 0 0 0 0 0\n  eth0: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\nveth12: 1000 1 0 0 0 0 0 0 2000 1 0 0 0 0 0 0\n",
		"self/cgroup": "0::/\n",
	})
	plant(t, sys, map[string]string{"block/sda/size": "1", "block/dm-0/size": "1", "block/loop0/size": "1"})
	return proc, sys
}

func near(x, want float64) bool { return math.Abs(x-want) <= 1e-6*math.Abs(want)+1e-9 }

func TestHost(t *testing.T) {
	onLinux(t)
	proc, sys := newProc(t)
	s := NewSampler(Options{Sys: sys, NvidiaSMI: "/nowhere", Interval: 1, Dir: t.TempDir()})
	defer s.Close()
	ctx := procIn(t, proc)
	a, err := s.Sample(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if a.CPU == a.CPU || a.DiskRead == a.DiskRead || len(a.Core) != 2 {
		t.Errorf("the first sample has CPU %g, disk %g, %d cores", a.CPU, a.DiskRead, len(a.Core))
	}
	if a.MemoryTotal != 24<<30 || a.MemoryUsed != 12<<30 || a.SwapUsed != 512<<20 || a.Load != [3]float64{1.9, 1.2, 0.8} {
		t.Errorf("memory %d of %d, swap %d, load %v", a.MemoryUsed, a.MemoryTotal, a.SwapUsed, a.Load)
	}
	if a.DiskTotal == 0 || a.CPULimit == a.CPULimit {
		t.Errorf("disk of %d bytes, limit of %g cores", a.DiskTotal, a.CPULimit)
	}
	plant(t, proc, map[string]string{
		"stat":      "cpu  350 0 100 1750 0 0 0 0 0 0\ncpu0 250 0 50 800 0 0 0 0 0 0\ncpu1 100 0 50 950 0 0 0 0 0 0\nbtime 1700000000\n",
		"diskstats": "   8       0 sda 10 0 2100 5 10 0 4200 5 0 10 10\n   8       1 sda1 10 0 2100 5 10 0 4200 5 0 10 10\n",
		"net/dev":   "a\nb\n    lo: 99999 1 0 0 0 0 0 0 99999 1 0 0 0 0 0 0\n  eth0: 1500 1 0 0 0 0 0 0 1000 1 0 0 0 0 0 0\n",
	})
	s.host.at = s.host.at.Add(-time.Second)
	b, err := s.Sample(ctx)
	if err != nil {
		t.Fatal(err)
	}
	seconds := b.At.Sub(a.At).Seconds() + 1
	if !near(b.CPU, 0.25) || !near(b.Core[0], 0.5) || !near(b.Core[1], 0) {
		t.Errorf("CPU %g, cores %v", b.CPU, b.Core)
	}
	if !near(b.DiskRead, 100*512/seconds) || !near(b.DiskWrite, 200*512/seconds) || !near(b.NetIn, 500/seconds) {
		t.Errorf("disk %g and %g, network %g bytes a second in %g s", b.DiskRead, b.DiskWrite, b.NetIn, seconds)
	}
	if b.NetOut == b.NetOut {
		t.Errorf("a counter that fell gave %g bytes a second", b.NetOut)
	}
}

func TestControlGroups(t *testing.T) {
	onLinux(t)
	for _, c := range []struct {
		name, cgroup string
		files        map[string]string
		used, total  uint64
		cores        float64
	}{
		{"version 2", "0::/a/b\n", map[string]string{
			"a/memory.max": "8589934592\n", "a/memory.current": "4294967296\n", "a/memory.stat": "anon 5\ninactive_file 1073741824\n", "a/cpu.max": "150000 100000\n",
			"a/b/memory.max": "max\n", "a/b/cpu.max": "max 100000\n",
		}, 3 << 30, 8 << 30, 1.5},
		{"a container's root", "0::/\n", map[string]string{"memory.max": "1073741824\n", "memory.current": "500\n", "memory.stat": "inactive_file 900\n"}, 0, 1 << 30, math.NaN()},
		{"version 1", "4:memory:/docker/x\n2:cpu,cpuacct:/\n", map[string]string{
			"memory/memory.limit_in_bytes": "2147483648\n", "memory/memory.usage_in_bytes": "1073741824\n", "memory/memory.stat": "total_inactive_file 1024\n",
			"cpu/cpu.cfs_quota_us": "50000\n", "cpu/cpu.cfs_period_us": "100000\n",
		}, 1<<30 - 1024, 2 << 30, 0.5},
		{"no limit", "4:memory:/\n2:cpu:/\n", map[string]string{
			"memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/memory.usage_in_bytes": "1\n", "cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n",
		}, 12 << 30, 24 << 30, math.NaN()},
		{"more than there is", "0::/\n", map[string]string{"memory.max": "1099511627776\n", "memory.current": "5\n", "cpu.max": "6400000 100000\n"}, 12 << 30, 24 << 30, math.NaN()},
		{"damaged", "x\n0::\n\x00:::\n", map[string]string{"memory.max": "-5\n", "cpu.max": "1\n"}, 12 << 30, 24 << 30, math.NaN()},
	} {
		t.Run(c.name, func(t *testing.T) {
			proc, sys := newProc(t)
			plant(t, proc, map[string]string{"self/cgroup": c.cgroup})
			plant(t, filepath.Join(sys, "fs", "cgroup"), c.files)
			s := NewSampler(Options{Sys: sys, NvidiaSMI: "/nowhere", Interval: 1})
			defer s.Close()
			got, err := s.Sample(procIn(t, proc))
			if err != nil {
				t.Fatal(err)
			}
			if got.MemoryUsed != c.used || got.MemoryTotal != c.total || got.CPULimit != c.cores && c.cores == c.cores || (got.CPULimit == got.CPULimit) != (c.cores == c.cores) {
				t.Errorf("%d of %d bytes, %g cores; expected %d of %d, %g", got.MemoryUsed, got.MemoryTotal, got.CPULimit, c.used, c.total, c.cores)
			}
		})
	}
}

func TestProcesses(t *testing.T) {
	onLinux(t)
	proc, sys := newProc(t)
	for pid, parent := range map[int]int{100: 1, 101: 100, 102: 101, 200: 1} {
		plant(t, proc, processFiles(pid, parent, 1000, 200, 1000))
	}
	ctx := procIn(t, proc)
	s := NewSampler(Options{PID: 100, Sys: sys, NvidiaSMI: "/nowhere", Interval: 1})
	defer s.Close()
	if _, err := s.Sample(ctx); err != nil {
		t.Fatal(err)
	}
	plant(t, proc, processFiles(100, 1, 1100, 200, 2000))
	plant(t, proc, processFiles(101, 100, 1200, 250, 1000))
	s.table.at = s.table.at.Add(-time.Second)
	got, err := s.Sample(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p := got.Process
	if p == nil || p.PID != 100 || p.Name != "python" || p.Count != 3 || p.RSS != 4000*uint64(os.Getpagesize()) {
		t.Fatalf("%+v", p)
	}
	if p.CPU < 3 || p.CPU > 3.5 || !near(p.Time, 3*12+3.5) || p.Threads != 9 {
		t.Errorf("%g cores, %g s, %d threads", p.CPU, p.Time, p.Threads)
	}
	if err := os.RemoveAll(filepath.Join(proc, "100")); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Sample(ctx); err != nil || got.Process != nil {
		t.Errorf("a process that has ended: %+v, %v", got.Process, err)
	}
}

// TestNumberTakenOver has another process come under the number of one that ended: its time is not spent anew.
func TestNumberTakenOver(t *testing.T) {
	onLinux(t)
	proc, sys := newProc(t)
	plant(t, proc, processFiles(100, 1, 5000, 200, 1000))
	ctx := procIn(t, proc)
	s := NewSampler(Options{PID: 100, Sys: sys, NvidiaSMI: "/nowhere", Interval: 1})
	defer s.Close()
	_, _ = s.Sample(ctx)
	plant(t, proc, processFiles(100, 1, 10, 0, 1000))
	s.table.at = s.table.at.Add(-time.Second)
	got, _ := s.Sample(ctx)
	if got.Process == nil || !(got.Process.CPU < 0.2) {
		t.Errorf("%+v", got.Process)
	}
}

// TestGPUUsers names the processes on each GPU, those with the most memory first.
func TestGPUUsers(t *testing.T) {
	program, _ := fakeSMI(t, "")
	proc, sys := newProc(t)
	plant(t, proc, processFiles(100, 1, 1000, 200, 1000))
	s := NewSampler(Options{GPUUsers: true, Sys: sys, NvidiaSMI: program, Interval: 20 * time.Millisecond})
	defer s.Close()
	var got Sample
	for deadline := time.Now().Add(time.Minute); len(got.GPUUsers) < 3; time.Sleep(5 * time.Millisecond) {
		if got, _ = s.Sample(procIn(t, proc)); time.Now().After(deadline) {
			t.Fatalf("%+v", got.GPUUsers)
		}
	}
	user := got.GPUUsers[0].User // of number 0, which not all systems have a name for
	want := []GPUUser{{0, 100, "python", user, 30000 << 20}, {0, 200, "", "", 0}, {1, 100, "python", user, 10 << 20}}
	if !slices.Equal(got.GPUUsers, want) {
		t.Errorf("%+v", got.GPUUsers)
	}
}

func TestClosed(t *testing.T) {
	s := NewSampler(Options{NvidiaSMI: "/nowhere", Interval: 1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Sample(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.Close()
	s.Close()
	if _, err := s.Sample(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestSeveralAsk has two ask at the same time: they get the same sample, and not the noise between two.
func TestSeveralAsk(t *testing.T) {
	s := NewSampler(Options{NvidiaSMI: "/nowhere", Interval: time.Hour})
	defer s.Close()
	a, _ := s.Sample(t.Context())
	if b, err := s.Sample(t.Context()); err != nil || !b.At.Equal(a.At) {
		t.Errorf("at %v and %v, %v", a.At, b.At, err)
	}
}

// TestThisMachine reads the machine that the test runs on.
func TestThisMachine(t *testing.T) {
	s := NewSampler(Options{PID: os.Getpid(), Interval: 1})
	defer s.Close()
	_, _ = s.Sample(t.Context())
	for begun := time.Now(); time.Since(begun) < 50*time.Millisecond; {
		_ = strings.Repeat("x", 1000)
	}
	got, err := s.Sample(t.Context())
	if err != nil || got.MemoryTotal == 0 || got.MemoryUsed > got.MemoryTotal || len(got.Core) == 0 {
		t.Fatalf("%+v, %v", got, err)
	}
	if runtime.GOOS == "linux" && (got.Process == nil || got.Process.Name == "" || got.Process.RSS == 0) {
		t.Errorf("%+v", got.Process)
	}
}

func TestAMD(t *testing.T) {
	sys := t.TempDir()
	plant(t, filepath.Join(sys, "class", "drm"), map[string]string{
		"card0/device/vendor": "0x10de\n", "card0/device/gpu_busy_percent": "5\n",
		"card1/device/vendor": "0x1002\n", "card1/device/device": "0x744c\n", "card1/device/gpu_busy_percent": "97\n",
		"card1/device/mem_info_vram_used": "8589934592\n", "card1/device/mem_info_vram_total": "25753026560\n",
		"card1/device/hwmon/hwmon3/temp1_input": "71000\n", "card1/device/hwmon/hwmon3/power1_average": "250000000\n",
		"card1/device/hwmon/hwmon3/power1_cap": "303000000\n", "card1/device/hwmon/hwmon3/freq1_input": "2304000000\n",
		"card1-DP-1/device/vendor": "0x1002\n", "card1-DP-1/device/gpu_busy_percent": "1\n",
		"card10/device/vendor": "0x1002\n", "card10/device/product_name": "Instinct MI300X\n", "card10/device/gpu_busy_percent": "100\n",
		"card10/device/hwmon/hwmon4/power1_input": "700000000\n",
	})
	cards := openCards(sys)
	if len(cards) != 2 {
		t.Fatalf("%d cards", len(cards))
	}
	a, b := cards[0].read(0), cards[1].read(1)
	if a != (GPU{0, "AMD GPU 744c", 0.97, 8 << 30, 25753026560, 71, 250, 303, 2304e6, ""}) {
		t.Errorf("%+v", a)
	}
	if b.Name != "Instinct MI300X" || b.Busy != 1 || b.Power != 700 || b.MemoryUsed == b.MemoryUsed || b.Temperature == b.Temperature {
		t.Errorf("%+v", b)
	}
}
