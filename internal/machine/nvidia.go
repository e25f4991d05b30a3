package machine

import (
	"bufio"
	"context"
	"encoding/csv"
	"io"
	"maps"
	"math"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"newtop/internal/routine"
)

// What nvidia-smi is asked for. A new process costs up to 0.6 s of system time, so that one is kept that tells again
// and again.
const (
	gpuFields = "index,name,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit," +
		"clocks.sm,uuid"
	processFields = "gpu_uuid,pid,used_gpu_memory"
)

// nvidia follows nvidia-smi. A goroutine for each of its processes reads lines until that ends; mu is held by whoever
// reads or changes what they told.
type nvidia struct {
	program   string        // "": there is none
	every     time.Duration // between two times that it tells
	patience  time.Duration // after which what was told is old
	ctx       context.Context
	cancel    context.CancelFunc
	ended     sync.WaitGroup
	requested bool // for processes, too

	mu    sync.Mutex
	gpus  map[int]received[GPU]
	inUse map[use]received[uint64] // bytes
}

// use is a process on a GPU.
type use struct {
	gpu string // its UUID
	pid int
}

// received is what was reported, and when.
type received[T any] struct {
	of T
	at time.Time
}

// openNvidia starts nvidia-smi. Where there is none, nothing is reported.
func openNvidia(o *Options) *nvidia {
	n := &nvidia{every: o.Interval, patience: max(5*time.Second, 5*o.Interval), gpus: map[int]received[GPU]{},
		inUse: map[use]received[uint64]{}}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	var err error
	if n.program, err = exec.LookPath(o.NvidiaSMI); err != nil {
		n.program = ""
	}
	n.follow("--query-gpu="+gpuFields, func(line string, now time.Time) {
		if g, ok := parseGPU(line); ok {
			n.gpus[g.Index] = received[GPU]{g, now}
		}
	})
	return n
}

// followProcesses has the memory of processes told from now on, by a process of nvidia-smi of its own: it tells one or
// the other.
func (n *nvidia) followProcesses() {
	if n.requested {
		return
	}
	n.requested = true
	n.follow("--query-compute-apps="+processFields, func(line string, now time.Time) {
		if u, bytes, ok := parseProcess(line); ok {
			n.inUse[u] = received[uint64]{bytes, now}
		}
	})
}

// follow takes what a process of nvidia-smi tells until it ends or the context does. The process ends without newtop,
// too: nobody reads what it writes.
func (n *nvidia) follow(query string, take func(line string, now time.Time)) {
	if n.program == "" {
		return
	}
	cmd := exec.CommandContext(n.ctx, n.program, query, "--format=csv,noheader,nounits", "-lms",
		strconv.FormatInt(n.every.Milliseconds(), 10))
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return
	}
	if err := cmd.Start(); err != nil {
		return
	}
	n.ended.Go(routine.Guard(func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			n.mu.Lock()
			take(lines.Text(), time.Now())
			n.mu.Unlock()
		}
		_, _ = io.Copy(io.Discard, out) // of a line without end
		_ = cmd.Wait()                  // why it ended changes nothing
	}))
}

func (n *nvidia) close() {
	n.cancel()
	n.ended.Wait()
}

// read returns the GPUs that were told of lately, by their numbers.
func (n *nvidia) read(now time.Time) (out []GPU) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, i := range slices.Sorted(maps.Keys(n.gpus)) {
		if h := n.gpus[i]; now.Sub(h.at) < n.patience {
			out = append(out, h.of)
		}
	}
	return out
}

// memory returns the bytes of processes on GPUs, as reported of late. What has ended is forgotten.
func (n *nvidia) memory(now time.Time) map[use]uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.inUse, func(_ use, h received[uint64]) bool { return now.Sub(h.at) >= n.patience })
	out := make(map[use]uint64, len(n.inUse))
	for u, h := range n.inUse {
		out[u] = h.of
	}
	return out
}

const mebibyte = 1 << 20

// fieldsOf splits a line of nvidia-smi's CSV; a field may be [N/A] or [Not Supported].
func fieldsOf(line string, n int) ([]string, bool) {
	r := csv.NewReader(strings.NewReader(line))
	r.TrimLeadingSpace, r.LazyQuotes, r.FieldsPerRecord = true, true, n
	fields, err := r.Read()
	return fields, err == nil
}

// parseGPU reads a line of what gpuFields asks for: percent, MiB, °C, W and MHz.
func parseGPU(line string) (g GPU, ok bool) {
	f, ok := fieldsOf(line, 10)
	if !ok {
		return g, false
	}
	index, err := strconv.Atoi(f[0])
	if err != nil || index < 0 || index >= maxGPUs {
		return g, false
	}
	at := func(i int, scale float64) float64 { return told(number(f[i], scale), math.MaxFloat64) }
	return GPU{
		Index: index, Name: f[1], Busy: told(number(f[2], 0.01), 1), MemoryUsed: at(3, mebibyte),
		MemoryTotal: at(4, mebibyte),
		Temperature: at(5, 1), Power: at(6, 1), PowerLimit: at(7, 1), Clock: at(8, 1e6), UUID: f[9],
	}, true
}

// maxGPUs bounds the numbers that are believed.
const maxGPUs = 1024

// parseProcess reads a line of what processFields asks for. The memory of a process is 0 where that is not reported.
func parseProcess(line string) (u use, bytes uint64, ok bool) {
	f, ok := fieldsOf(line, 3)
	if !ok {
		return u, 0, false
	}
	pid, err := strconv.Atoi(f[1])
	if err != nil || pid <= 0 || f[0] == "" {
		return u, 0, false
	}
	if used := number(f[2], mebibyte); used >= 0 && used < 1<<60 {
		bytes = uint64(used)
	}
	return use{f[0], pid}, bytes, true
}
