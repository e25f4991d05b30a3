package machine

import (
	"context"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/common"
)

// group is the control group of this process, as far as it limits memory and processors. Its files are named as in
// version 2 or version 1 of the kernel's interface. Its zero value limits nothing.
type group struct {
	memory   string // the directory of the group with the least limit of memory; "": none
	usage    string // in it, the file that tells the bytes in use
	inactive string // in its memory.stat, the bytes of files that would be given up first
	limit    uint64
	cores    float64 // 0: not limited
}

// openGroup finds the least limits of the group and of those above it. In a container what the kernel calls the group
// may not be there, and the container's own is the root.
func openGroup(ctx context.Context, sys string) (g group) {
	proc := "/proc"
	if m, ok := ctx.Value(common.EnvKey).(common.EnvMap); ok && m[common.HostProcEnvKey] != "" {
		proc = m[common.HostProcEnvKey]
	}
	text, err := os.ReadFile(filepath.Join(proc, "self", "cgroup"))
	if err != nil {
		return g
	}
	root := filepath.Join(sys, "fs", "cgroup")
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
				g.add(controller, filepath.Join(root, controller, at))
				if at == "/" {
					break
				}
			}
		}
	}
	return g
}

// add takes the limits of a directory of a controller, "" being all of version 2.
func (g *group) add(controller, dir string) {
	memory := func(file, usage, inactive string) {
		if n, ok := readNumber(filepath.Join(dir, file)); ok && n > 0 && n < 1<<62 && (g.memory == "" || n < g.limit) {
			g.memory, g.usage, g.inactive, g.limit = dir, usage, inactive, n
		}
	}
	cores := func(quota, period float64) {
		if c := quota / period; quota > 0 && period > 0 && (g.cores == 0 || c < g.cores) {
			g.cores = c
		}
	}
	switch controller {
	case "":
		memory("memory.max", "memory.current", "inactive_file")
		if f := strings.Fields(readText(filepath.Join(dir, "cpu.max"))); len(f) == 2 {
			cores(number(f[0], 1), number(f[1], 1))
		}
	case "memory":
		memory("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
	case "cpu":
		cores(number(readText(filepath.Join(dir, "cpu.cfs_quota_us")), 1),
			number(readText(filepath.Join(dir, "cpu.cfs_period_us")), 1))
	}
}

// read puts the group's memory in place of the machine's if it may have less.
func (g *group) read(out *Sample) {
	if g.cores > 0 && g.cores < float64(len(out.Core)) {
		out.CPULimit = g.cores
	}
	if g.memory == "" || out.MemoryTotal > 0 && g.limit >= out.MemoryTotal {
		return
	}
	used, ok := readNumber(filepath.Join(g.memory, g.usage))
	if !ok {
		return
	}
	for line := range strings.Lines(readText(filepath.Join(g.memory, "memory.stat"))) {
		if key, n, _ := strings.Cut(line, " "); key == g.inactive {
			files, _ := strconv.ParseUint(strings.TrimSpace(n), 10, 64)
			used -= min(used, files)
		}
	}
	out.MemoryUsed, out.MemoryTotal = used, g.limit
}

// readText returns what a small file of the kernel holds, "" if it can't be read.
func readText(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func readNumber(name string) (uint64, bool) {
	n, err := strconv.ParseUint(readText(name), 10, 64)
	return n, err == nil
}

// number reads a number and scales it; NaN for what is none, or not finite.
func number(text string, scale float64) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsInf(x, 0) {
		return math.NaN()
	}
	return x * scale
}
