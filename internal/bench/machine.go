package bench

import (
	"bufio"
	"cmp"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"newtop/internal/bench/peak"
	"newtop/internal/kernel"
)

// Machine is what the figures were measured on.
type Machine struct {
	CPU     string `json:"cpu"` // model; empty where the system does not say
	Cores   int    `json:"cores"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Go      string `json:"go"`
	Kernel  string `json:"kernel"`
	Threads int    `json:"threads"` // that the figures of all threads used
	// What fused multiply-adds without any memory reach: of one core alone, and of Threads at once, in all. Threads
	// beyond GOMAXPROCS add nothing.
	PeakGFLOPS    float64 `json:"peak_gflops,omitempty"`
	PeakAllGFLOPS float64 `json:"peak_all_gflops,omitempty"`
}

// Here is this machine, its peaks left out, with as many threads; 0: GOMAXPROCS.
func Here(threads int) Machine {
	return Machine{CPU: cpuModel("/proc/cpuinfo"), Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Go: runtime.Version(), Kernel: kernel.Selected().String(), Threads: cmp.Or(threads, runtime.GOMAXPROCS(0))}
}

// measurePeaks takes about d. A peak is the best of a while. Of threads that share a core, or its clock, that would be
// the moment when the others were not there yet: so each counts with its median over many short whiles.
func (m *Machine) measurePeaks(d time.Duration) {
	const whiles = 20
	m.PeakGFLOPS = peak.Measure(d / 2)
	peaks := make([]float64, min(m.Threads, runtime.GOMAXPROCS(0)))
	var all sync.WaitGroup
	for i := range peaks {
		all.Go(func() {
			var each [whiles]float64
			for j := range each {
				each[j] = peak.Measure(d / (2 * whiles))
			}
			peaks[i] = median(each[:])
		})
	}
	all.Wait()
	for _, p := range peaks {
		m.PeakAllGFLOPS += p
	}
}

// cpuModel returns the processor's name as Linux has it, with its family and model where these are told: names like AMD
// EPYC are many processors'.
func cpuModel(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	found := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan() && lines.Text() != ""; {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok {
			found[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	name := found["model name"]
	if family := found["cpu family"]; family != "" {
		name += " (family " + family + ", model " + found["model"] + ")"
	}
	return name
}
