package bench

import (
	"context"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/process"

	"newtop/trainer/event"
)

// load is what the processors have done until a moment, in seconds of one of them: all that they could, what they did or the
// host of a virtual machine took of them, and what they did for this process. It is all zero where the system does not tell.
type load struct{ all, busy, own float64 }

func loadNow(ctx context.Context) load {
	times, err := cpu.TimesWithContext(ctx, false)
	own, fault := (&process.Process{Pid: int32(os.Getpid())}).TimesWithContext(ctx)
	if err != nil || fault != nil || len(times) == 0 {
		return load{}
	}
	t := &times[0]
	busy := t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal
	return load{busy + t.Idle + t.Iowait, busy, own.User + own.System}
}

// foreign is the share of the processors that others used until later than this process and a script that spent so much.
func (l load) foreign(later load, spent time.Duration) event.Float {
	if later.all <= l.all {
		return event.Absent
	}
	return event.Float(max(0, later.busy-l.busy-(later.own-l.own)-spent.Seconds()) / (later.all - l.all))
}
