// Package load measures how busy others keep the processors.
package load

import (
	"context"
	"math"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"
)

// Load is what the processors have done until a moment, in seconds of one of them: all that they could, what they did
// or the host of a virtual machine took of them, and what they did for this process. It is all zero where the system
// does not tell.
type Load struct{ all, busy, own float64 }

// Now reads it.
func Now(ctx context.Context) Load {
	times, err := cpu.TimesWithContext(ctx, false)
	own, fault := (&process.Process{Pid: int32(os.Getpid())}).TimesWithContext(ctx)
	if err != nil || fault != nil || len(times) == 0 {
		return Load{}
	}
	t := &times[0]
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
	return Load{busy + t.Idle + t.Iowait, busy, own.User + own.System}
}

// Foreign is the share of the processors, 0…1, that others used until later than this process and another that spent so
// much; NaN where the system does not tell.
func (l Load) Foreign(later Load, spent time.Duration) float64 {
	if later.all <= l.all {
		return math.NaN()
	}
	return max(0, later.busy-l.busy-(later.own-l.own)-spent.Seconds()) / (later.all - l.all)
}
