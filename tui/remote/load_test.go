//go:build unix

package remote_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/tui/remote"
)

var (
	viewers = flag.Int("viewers", 100, "how many look in BenchmarkViewers")
	past    = flag.Int("past", 0, "how many epochs BenchmarkViewersAlone trains before anybody looks")
	window  = flag.Duration("window", 4*time.Second, "how long BenchmarkViewers measures with them, and without")
)

// BenchmarkViewers trains the letters while SSH clients of another process look at 80 × 24, and while none does, in turn.
// It reports, as medians over the turns,
//
//	%slower    how much less work the trainer gets done in a second; the clients, at the lowest priority, have the same processors
//	%cpu       how much more of them this process, trainer and server, takes for the same work
//	%server    what share of all processors that is, so how much slower the trainer is that has the machine alone
//	%clients   what share of all processors the clients take
//	kB/s       what a viewer is sent
//	epochs/s   of the trainer alone
//
// Work is counted in gradient equivalents, since epochs are not all alike.
func BenchmarkViewers(b *testing.B) {
	processors := runtime.GOMAXPROCS(0)
	for _, method := range []string{"adam", "tr-newton"} {
		b.Run(method, func(b *testing.B) {
			runtime.GOMAXPROCS(processors + 2) // as newtop serve has it
			defer runtime.GOMAXPROCS(processors)
			s := train(b, trainer.Config{Data: "letters", Optimizer: method, Threads: processors}, crowd())
			defer s.close()
			take := s.crowd(b)
			var m medians
			var watched, alone measure
			for i := range b.N {
				if i%2 == 0 { // the run gets faster or slower by itself
					alone = take(0)
					watched = take(*viewers)
				} else {
					watched = take(*viewers)
					alone = take(0)
				}
				m.add("%slower", 100*(alone.work/watched.work*watched.seconds/alone.seconds-1))
				m.add("%cpu", 100*(watched.cpu/watched.work*alone.work/alone.cpu-1))
				own := watched.cpu - watched.work*alone.cpu/alone.work
				m.add("%server", 100*own/watched.seconds/float64(processors))
				m.add("%clients", 100*watched.clients/watched.seconds/float64(processors))
				m.add("kB/s", watched.bytes/1000/watched.seconds/float64(*viewers))
				m.add("epochs/s", alone.epochs/alone.seconds)
			}
			m.report(b)
		})
	}
}

// BenchmarkViewersAlone has a run that finishes an epoch every 50 ms and does next to nothing in it, so that what this
// process computes is what its viewers cost. It reports that as a share of all processors, what a viewer is sent, and the
// memory that is in use for each.
func BenchmarkViewersAlone(b *testing.B) {
	processors := runtime.GOMAXPROCS(0)
	s := train(b, trainer.Config{Data: "spirals", Hidden: []int{7}, Optimizer: "adam", Threads: 1}, crowd())
	defer s.close()
	feed := s.run.Feed()
	defer feed.Close()
	for s.status().Epoch < *past {
		time.Sleep(50 * time.Millisecond)
	}
	ctx, stop := context.WithCancel(b.Context())
	var pacer sync.WaitGroup
	defer pacer.Wait()
	defer stop()
	pacer.Go(func() {
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			select {
			case <-tick.C:
				feed.Do(ctx, event.StepEpoch{})
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	})
	take := s.crowd(b)
	var m medians
	for range b.N {
		alone, watched := take(0), take(*viewers)
		m.add("kB-resident", (watched.resident-alone.resident)/1000/float64(*viewers))
		m.add("%server", 100*(watched.cpu/watched.seconds-alone.cpu/alone.seconds)/float64(processors))
		m.add("kB/s", watched.bytes/1000/watched.seconds/float64(*viewers))
		m.add("kB", (watched.memory-alone.memory)/1000/float64(*viewers))
		m.add("epochs/s", watched.epochs/watched.seconds)
	}
	m.report(b)
	take(0)
	time.Sleep(*window)
	b.Logf("resident with nobody there, %v after the last left: %.0f MB", *window, residentBytes()/1e6)
}

// crowd are the options of a server for many viewers of one host.
func crowd() remote.Options {
	return remote.Options{Limits: remote.Limits{Sessions: 2**viewers + 128, SessionsPerKey: *viewers, Memory: 1 << 30}}
}

// crowd returns what measures the server with so many viewers.
func (s *stage) crowd(b *testing.B) func(viewers int) measure {
	p := s.party(80, 24)
	if err := syscall.Setpriority(syscall.PRIO_PROCESS, p.command.Process.Pid, 19); err != nil {
		b.Fatal(err)
	}
	return func(viewers int) measure {
		p.become(b, viewers)
		s.seen(viewers)
		time.Sleep(time.Second) // their first screens are drawn, or the last ones gone
		return s.measure(b, p, viewers)
	}
}

// medians are figures of every turn, by unit.
type medians map[string][]float64

func (m medians) report(b *testing.B) {
	for unit, values := range m {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], unit)
	}
	b.ReportMetric(0, "ns/op")
}

func (m *medians) add(unit string, v float64) {
	if *m == nil {
		*m = medians{}
	}
	(*m)[unit] = append((*m)[unit], v)
}

// measure is what happened in a stretch of time.
type measure struct {
	seconds float64 // that it took
	epochs  float64
	work    float64 // gradient equivalents
	cpu     float64 // seconds of this process's processors
	clients float64 // the same of the clients' process
	bytes   float64 // that the clients read
	memory  float64 // bytes of heap and stacks that are in use at the end

	resident float64 // bytes of the process's memory at the end, before the garbage is collected
}

func (s *stage) measure(b *testing.B, p *party, viewers int) measure {
	point := func() measure {
		status := s.status()
		read, clients := p.become(b, viewers)
		return measure{
			seconds: float64(time.Now().UnixNano()) / 1e9, epochs: float64(status.Epoch), work: status.Equivalents,
			cpu: processorSeconds(), clients: clients, bytes: float64(read),
		}
	}
	from := point()
	time.Sleep(*window)
	to := point()
	resident := residentBytes()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return measure{
		seconds: to.seconds - from.seconds, epochs: to.epochs - from.epochs, work: to.work - from.work,
		cpu: to.cpu - from.cpu, clients: to.clients - from.clients, bytes: to.bytes - from.bytes,
		memory: float64(m.HeapAlloc + m.StackInuse), resident: resident,
	}
}

// residentBytes is the memory of this process, 0 where the system does not tell.
func residentBytes() float64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident float64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * float64(os.Getpagesize())
}

// processorSeconds is how long this process has computed.
func processorSeconds() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
