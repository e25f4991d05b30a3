package storetest

import (
	"flag"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/sqlfile"
	"newtop/trainer/stream"
)

var longEpochs = flag.Int("long", 1_000_000, "epochs of BenchmarkOpenLong's run")

// wait returns when all that was recorded is on the disk.
func wait(r *recorder.Recorder) {
	for {
		r.Mu.Lock()
		done := len(r.Queue.Items) == 0 && r.Queue.Writing == 0 && !r.Checkpoint.Busy
		r.Mu.Unlock()
		if done {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// plain is an epoch as a method without inner solves has it.
func plain(n int, noise *rand.Rand) event.EpochEvent {
	loss := 1/math.Sqrt(float64(n+1)) + 0.01*noise.Float64()
	nan := event.Float(math.NaN())
	return event.EpochEvent{
		Epoch: n, Optimizer: "adam", Loss: event.Float(loss), TestLoss: event.Float(loss * (1 + 0.1*noise.Float64())),
		Error: event.Float(math.Round(loss*4000) / 16000), TestError: event.Float(math.Round(loss*1100) / 4000),
		RMSE: nan, TestRMSE: nan, GradientNorm: event.Float(noise.Float64()), StepNorm: event.Float(noise.Float64()),
		Radius: nan, Rho: nan, Rate: 1e-3, Accepted: true, Gradients: event.Float(n), GradientEquivalents: event.Float(n),
		Blocks: []event.BlockNorms{
			{To: 1, From: 0, Weight: event.Float(noise.Float64()), Gradient: event.Float(noise.Float64()), Step: event.Float(noise.Float64())},
			{To: 2, From: 1, Weight: event.Float(noise.Float64()), Gradient: event.Float(noise.Float64()), Step: event.Float(noise.Float64())},
		},
		Seconds: 1e-3, Elapsed: event.Float(float64(n) * 1e-3),
	}
}

func BenchmarkRecordEpochs(b *testing.B) {
	s := temporary(b)
	r := recorder.New(s, recorder.About{})
	record(b, r, opening("a"))
	noise := rand.New(rand.NewPCG(1, 1))
	e := plain(1, noise)
	for n := 0; b.Loop(); n++ {
		e.Epoch = n
		record(b, r, e)
		if n%16384 == 0 {
			wait(r)
		}
	}
	wait(r)
	b.StopTimer()
	flush(b, r)
}

func BenchmarkRecordInner(b *testing.B) {
	s := temporary(b)
	r := recorder.New(s, recorder.About{})
	record(b, r, opening("a"))
	for n := 0; b.Loop(); n++ {
		e := inner(n/100, 0, n%100+1)
		e.StepNorm = event.Float(1 / float64(n+3))
		record(b, r, e)
		if n%65536 == 0 {
			wait(r)
		}
	}
	wait(r)
	b.StopTimer()
	flush(b, r)
}

// BenchmarkOpenLong reads a finished run of a million epochs as a watcher does. The run is recorded once, before the
// clock starts.
func BenchmarkOpenLong(b *testing.B) {
	path := filepath.Join(b.TempDir(), "runs.db")
	s := open(b, path)
	r := recorder.New(s, recorder.About{})
	record(b, r, opening("a"))
	noise := rand.New(rand.NewPCG(1, 1))
	for n := range *longEpochs {
		record(b, r, plain(n, noise))
		if n%4096 == 0 {
			wait(r)
		}
	}
	record(b, r, event.DoneEvent{Reason: event.ReasonEpochs, Epochs: *longEpochs})
	flush(b, r)
	s.Close()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for b.Loop() {
		s := open(b, path)
		w, err := s.Source(b.Context(), "a")
		if err != nil {
			b.Fatal(err)
		}
		for n = 0; ; n++ {
			if _, err := w.Next(b.Context()); err == stream.ErrNone {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
		w.Close()
		s.Close()
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(n), "events")
	b.ReportMetric(float64(after.Sys)/1e6, "MB-of-process")
}

// BenchmarkRecordToWatcher measures how long an epoch takes from Record to a Source of another store on the same file,
// while 20 epochs a second are recorded.
func BenchmarkRecordToWatcher(b *testing.B) {
	s := temporary(b)
	r := recorder.New(s, recorder.About{})
	record(b, r, opening("a"))
	wait(r)
	other, err := store.Open(s.Path(), sqlfile.Options{ReadOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	defer other.Close()
	w, err := other.Source(b.Context(), "a")
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	next := func() {
		for {
			switch _, err := w.Next(b.Context()); err {
			case nil:
				return
			case stream.ErrNone:
				if err := w.Wait(b.Context()); err != nil {
					b.Fatal(err)
				}
			default:
				b.Fatal(err)
			}
		}
	}
	next()
	noise := rand.New(rand.NewPCG(1, 1))
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		time.Sleep(time.Duration(25+noise.IntN(50)) * time.Millisecond)
		begin := time.Now()
		record(b, r, plain(n, noise))
		next()
		took = append(took, time.Since(begin))
	}
	flush(b, r)
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2].Seconds()*1e3, "ms-median")
	b.ReportMetric(took[len(took)*95/100].Seconds()*1e3, "ms-p95")
}
