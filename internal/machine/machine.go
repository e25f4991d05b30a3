// Package machine reads how the machine does that a run is trained on: its processors, memory, disks, network and GPUs,
// and one process with its children. Linux is read best; what another system does not tell is not told here.
package machine

import (
	"context"
	"math"
	"os"
	"sync"
	"time"
)

// Options say what a Sampler reads.
type Options struct {
	PID       int           // of the process to watch, with its children; 0: none
	Interval  time.Duration // between two samples, by which nvidia-smi is asked; 0: a second
	GPUUsers  bool          // say which processes use each GPU
	Dir       string        // whose file system's room is reported; "": the working directory
	NvidiaSMI string        // the program; "": nvidia-smi on the path
	Sys       string        // where sysfs is; "": /sys
}

// Sample is how the machine does at a time. A number that is not told is NaN, an amount of which the whole is 0 is not
// told. What counts up, as the times of processors, is told from the second sample on.
type Sample struct {
	At   time.Time
	CPU  float64   // share of all cores that is busy, from 0 to 1
	Core []float64 // the same of each core
	// CPULimit is how many cores the control group may use, NaN where it has no limit.
	CPULimit float64
	Load     [3]float64 // mean number of processes that run or wait, over 1, 5 and 15 minutes
	// MemoryUsed and MemoryTotal are bytes of the machine, or of the control group where that may have less.
	MemoryUsed, MemoryTotal uint64
	SwapUsed                uint64
	DiskRead, DiskWrite     float64 // bytes a second
	NetIn, NetOut           float64 // bytes a second
	DiskUsed, DiskTotal     uint64  // bytes of the directory's file system
	Process                 *Process
	GPUs                    []GPU
	GPUUsers                []GPUUser // by GPU, the one with the most memory first; nil unless requested
}

// Process is a process, or one with all that descend from it.
type Process struct {
	PID       int
	Name      string
	CPU       float64 // cores that it keeps busy
	Time      float64 // seconds of processor time since it began
	RSS       uint64  // bytes of memory; of a tree the sum, so that shared pages count several times
	Threads   int
	Count     int    // processes that are summed
	GPUMemory uint64 // bytes, as nvidia-smi tells
}

// GPU is a graphics processor.
type GPU struct {
	Index                   int
	Name                    string
	Busy                    float64 // share of the driver's last moment, from 0 to 1
	MemoryUsed, MemoryTotal float64 // bytes
	Temperature             float64 // °C
	Power, PowerLimit       float64 // watts
	Clock                   float64 // Hz
	UUID                    string  // "" for one whose processes are not reported
}

// GPUUser is a process on a GPU.
type GPUUser struct {
	GPU        int // the GPU's index
	PID        int
	Name, User string // "" where they are not reported
	Memory     uint64 // bytes on this GPU
}

// Sampler reads samples. Sample and Close may be called by several goroutines; samples are read one after another.
type Sampler struct {
	o      Options
	mu     sync.Mutex
	closed bool
	latest Sample
	host   host
	group  group
	table  table
	users  map[int]GPUUser // by process, with what does not change
	nvidia *nvidia         // nil until the first sample
	amd    []card
}

// NewSampler returns a sampler that must be closed. It reads nothing yet.
func NewSampler(o Options) *Sampler {
	if o.Interval <= 0 {
		o.Interval = time.Second
	}
	if o.Sys == "" {
		o.Sys = "/sys"
	}
	if o.NvidiaSMI == "" {
		o.NvidiaSMI = "nvidia-smi"
	}
	if o.Dir == "" {
		o.Dir, _ = os.Getwd()
	}
	return &Sampler{o: o}
}

// Sample reads how the machine does, or returns the newest sample again within a quarter of the interval, so that
// several may ask the same sampler. What it returns must not be changed. It returns the context's error if that has
// ended, and os.ErrClosed after Close; what can't be read is not told and no error.
func (s *Sampler) Sample(ctx context.Context) (Sample, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Sample{}, os.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return Sample{}, err
	}
	if !s.latest.At.IsZero() && time.Since(s.latest.At) < s.o.Interval/4 {
		return s.latest, nil
	}
	if s.nvidia == nil {
		s.host.open(&s.o)
		s.group = openGroup(ctx, s.o.Sys)
		s.amd = openCards(s.o.Sys)
		s.nvidia = openNvidia(&s.o)
	}
	out := Sample{At: time.Now()}
	s.host.read(ctx, &out)
	s.group.read(&out)
	out.GPUs = s.nvidia.read(out.At)
	next := 0
	for i := range out.GPUs {
		next = max(next, out.GPUs[i].Index+1)
	}
	for i := range s.amd {
		out.GPUs = append(out.GPUs, s.amd[i].read(next+i))
	}
	if s.o.PID != 0 || s.o.GPUUsers {
		s.nvidia.followProcesses()
	}
	memory := s.nvidia.memory(out.At)
	if s.o.GPUUsers {
		s.readUsers(ctx, &out, memory)
	}
	out.Process = s.table.read(ctx, s.o.PID, out.At, memory)
	s.latest = out
	return out, nil
}

// Close ends what the sampler has started. It may be called twice.
func (s *Sampler) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.nvidia != nil {
		s.nvidia.close()
	}
}

// rate is how fast a counter rose; NaN at first, and where it fell because something was taken away.
func rate(now, before float64, seconds float64) float64 {
	if !(seconds > 0) || !(now >= before) {
		return math.NaN()
	}
	return (now - before) / seconds
}
