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
			Process: &machine.Process{PID: 4711, Name: "python", CPU: 1.8 + 0.2*math.Sin(x/7), Time: 2 * x,
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
				MemoryTotal: 80 << 30, Temperature: 71, Power: 301.4, PowerLimit: 400, Clock: 1410e6,
				UUID: fmt.Sprintf("GPU-%d", g)})
		}
		if gpus > 0 {
			s.GPUUsers = []machine.GPUUser{{PID: 4711, Name: "python", User: "ann", Memory: 30 << 30},
				{PID: 100, Name: "worker", User: "root", Memory: 512 << 20}}
		}
		out = append(out, s)
	}
	return out
}
