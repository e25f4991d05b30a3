package tuitest

import (
	"fmt"
	"math"
	"time"

	"newtop/internal/machine"
)

// MachineSamples are n made-up samples, a second apart, of a machine with eight cores and some GPUs on which a program
// trains.
func MachineSamples(n, gpus int) (out []machine.Sample) {
	begun := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for i := range n {
		x := float64(i)
		s := machine.Sample{
			At: begun.Add(time.Duration(i) * time.Second), CPU: 0.55 + 0.3*math.Sin(x/20)*math.Sin(x/3),
			CPULimit: math.NaN(), Load: [3]float64{1.94, 1.5, 0.7},
			MemoryUsed: uint64(12.1*(1<<30) + x*(1<<22)), MemoryTotal: 24 << 30, SwapUsed: 300 << 20, DiskUsed: 81e9,
			DiskTotal: 100e9,
			DiskRead:  8e6 * (1 + math.Sin(x/9)), DiskWrite: 1e6, NetIn: 12e3 * (1 + math.Cos(x/5)), NetOut: 3e3,
			Process: &machine.Process{PID: 4711, Name: "python", User: "ann", Command: "python train.py --lr 0.1",
				CPU: 1.8 + 0.2*math.Sin(x/7), Time: 2 * x,
				RSS: 2469606195, Threads: 14, Count: 3},
		}
		for k := range 8 {
			s.Core = append(s.Core, 0.5+0.5*math.Sin(x/4+float64(k)))
		}
		if i == 0 {
			s.CPU, s.DiskRead, s.DiskWrite, s.NetIn, s.NetOut, s.Process.CPU = math.NaN(), math.NaN(), math.NaN(),
				math.NaN(), math.NaN(), math.NaN()
		}
		for g := range gpus {
			s.GPUs = append(s.GPUs, machine.GPU{Index: g, Name: "NVIDIA A100-SXM4-80GB",
				Busy: 0.9 + 0.07*math.Sin(x/6+float64(g)), MemoryUsed: 31 << 30,
				MemoryTotal: 80 << 30, Temperature: 71, Power: 301.4, PowerLimit: 400, Clock: 1410e6})
		}
		for p := range 30 {
			s.Processes = append(s.Processes, machine.Process{PID: 100 + 37*p, Name: fmt.Sprintf("worker-%d", p),
				User:    []string{"root", "ann"}[p%2],
				Command: fmt.Sprintf("/usr/bin/worker-%d --queue %d", p, p*p), CPU: 2 / float64(1+p),
				Time: 100 * float64(p), RSS: uint64(30-p) << 24, Count: 1})
		}
		s.Processes[0].Name, s.Processes[0].Command, s.Processes[0].GPUMemory = "python", "python train.py --lr 0.1", 30<<30
		out = append(out, s)
	}
	return out
}
