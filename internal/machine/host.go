package machine

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"
)

// host reads the machine, and keeps the counters of the sample before.
type host struct {
	dir     string
	disks   []string // that are whole ones; nil: all that are reported
	at      time.Time
	cores   []cpu.TimesStat
	counted [4]float64 // bytes read, written, received and sent
}

func (h *host) open(o *Options) {
	h.dir = o.Dir
	if runtime.GOOS == "linux" {
		h.disks = wholeDisks(o.Sys)
	}
}

// wholeDisks are the disks that are no parts and no views of others, whose bytes would count twice.
func wholeDisks(sys string) []string {
	list, _ := os.ReadDir(filepath.Join(sys, "block"))
	out := []string{}
	for _, d := range list {
		if wholeDisk(d.Name()) {
			out = append(out, d.Name())
		}
	}
	return out
}

func wholeDisk(name string) bool {
	return !hasPrefix(name, "loop", "ram", "zram", "dm-", "md", "sr", "fd")
}

// outward reports whether a network interface is none of which all goes through others too, or nowhere.
func outward(name string) bool {
	return !hasPrefix(name, "lo", "veth", "docker", "br-", "virbr", "cni", "tun", "tap")
}

func hasPrefix(s string, with ...string) bool {
	for _, w := range with {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}

func (h *host) read(ctx context.Context, out *Sample) {
	nan := math.NaN()
	out.CPU, out.CPULimit, out.Load = nan, nan, [3]float64{nan, nan, nan}
	cores, _ := cpu.TimesWithContext(ctx, true)
	if l, err := load.AvgWithContext(ctx); err == nil {
		out.Load = [3]float64{l.Load1, l.Load5, l.Load15}
	}
	readMemory(ctx, out)
	if u, err := disk.UsageWithContext(ctx, h.dir); err == nil && h.dir != "" {
		out.DiskUsed, out.DiskTotal = u.Used, u.Used+u.Free // what only root may fill is no room
	}
	now := [4]float64{nan, nan, nan, nan}
	if h.disks == nil || len(h.disks) > 0 {
		if list, err := disk.IOCountersWithContext(ctx, h.disks...); err == nil {
			now[0], now[1] = 0, 0
			for _, d := range list {
				now[0] += float64(d.ReadBytes)
				now[1] += float64(d.WriteBytes)
			}
		}
	}
	if list, err := net.IOCountersWithContext(ctx, true); err == nil {
		now[2], now[3] = 0, 0
		for _, n := range list {
			if outward(n.Name) {
				now[2] += float64(n.BytesRecv)
				now[3] += float64(n.BytesSent)
			}
		}
	}
	h.take(out, cores, now)
}

// take reports what was counted since the sample before, of cores and of bytes read, written, received and sent.
func (h *host) take(out *Sample, cores []cpu.TimesStat, now [4]float64) {
	seconds := out.At.Sub(h.at).Seconds()
	if h.at.IsZero() {
		seconds = math.NaN()
	}
	h.at = out.At
	for i, to := range []*float64{&out.DiskRead, &out.DiskWrite, &out.NetIn, &out.NetOut} {
		*to = rate(now[i], h.counted[i], seconds)
	}
	h.counted = now
	if len(cores) == 0 {
		return
	}
	out.Core = make([]float64, len(cores))
	busy, all := 0.0, 0.0
	for i := range cores {
		out.Core[i] = math.NaN()
		if len(h.cores) == len(cores) {
			b0, a0 := spent(&h.cores[i])
			b1, a1 := spent(&cores[i])
			out.Core[i] = share(b1-b0, a1-a0)
			busy, all = busy+b1-b0, all+a1-a0
		}
	}
	if len(h.cores) == len(cores) {
		out.CPU = share(busy, all)
	}
	h.cores = cores
}

// spent is the time that a core was busy, and all of its time. That of guests is in that of users.
func spent(t *cpu.TimesStat) (busy, all float64) {
	busy = t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
	return busy, busy + t.Idle + t.Iowait
}

// share is a part of a whole, NaN of nothing. Counters of the kernel may go back a little.
func share(part, whole float64) float64 {
	if !(whole > 0) {
		return math.NaN()
	}
	return max(0, min(part/whole, 1))
}

func readMemory(ctx context.Context, out *Sample) {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return
	}
	out.MemoryTotal, out.MemoryUsed = m.Total, m.Total-min(m.Available, m.Total)
	out.SwapUsed = m.SwapTotal - min(m.SwapFree, m.SwapTotal)
	if runtime.GOOS == "linux" {
		return
	}
	if s, err := mem.SwapMemoryWithContext(ctx); err == nil {
		out.SwapUsed = s.Used
	}
}
