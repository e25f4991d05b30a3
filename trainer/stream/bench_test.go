package stream

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"newtop/internal/tfevents"
	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

const million = 1_000_000

// BenchmarkOpen opens runs of a million epochs until a viewer has the newest, and reports what the process then has
// from the system, MB-sys.
func BenchmarkOpen(b *testing.B) {
	b.Run("foreign", func(b *testing.B) {
		path := foreignLines(b)
		benchmarkOpen(b, func() (Source, error) { return File(files.Here(path)) })
	})
	b.Run("pipe", func(b *testing.B) {
		path := foreignLines(b)
		benchmarkOpen(b, func() (Source, error) {
			f, err := os.Open(path)
			return Lines(f, "-"), err
		})
	})
	b.Run("own", func(b *testing.B) {
		path := ownLines(b)
		benchmarkOpen(b, func() (Source, error) { return File(files.Here(path)) })
	})
	for _, l := range []struct{ name, first, line string }{
		{"rows.jsonl", "", `{"step":%d,"loss":%.9f,"val_loss":%.9f}`},
		{"dict.log", "", `{'step': %d, 'loss': %.9f, 'eval_loss': '%.9f'}`},
		{"rows.csv", "step,loss,val_loss\n", "%d,%.9f,%.9f"},
		{"text.log", "", "step %d loss %.9f val_loss %.9f"},
		{"xgboost.log", "", "[%d]\ttrain-rmse:%.9f\tvalid-rmse:%.9f"},
	} {
		b.Run(l.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), l.name)
			write(b, path, func(w *bufio.Writer) {
				w.WriteString(l.first)
				for i := range million {
					fmt.Fprintf(w, l.line+"\n", i, 1/float64(i+1), 2/float64(i+1))
				}
			})
			if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
				b.Fatal(err)
			}
			benchmarkOpen(b, func() (Source, error) { return File(files.Here(path)) })
		})
	}
	b.Run("tensorboard", func(b *testing.B) {
		dir := eventFiles(b)
		benchmarkOpen(b, func() (Source, error) { return TensorBoard(files.Here(dir)) })
	})
}

// BenchmarkMany opens runs of 200 metrics and ten thousand steps.
func BenchmarkMany(b *testing.B) {
	const metrics, steps = 200, 10_000
	path := filepath.Join(b.TempDir(), "many.jsonl")
	write(b, path, func(w *bufio.Writer) {
		for i := range steps {
			fmt.Fprintf(w, `{"step":%d`, i)
			for k := range metrics {
				fmt.Fprintf(w, `,"group%d/metric%d":%.6g`, k%10, k, float64(k)/float64(i+1))
			}
			w.WriteString("}\n")
		}
	})
	b.ResetTimer()
	for b.Loop() {
		s, err := File(files.Here(path))
		if err != nil {
			b.Fatal(err)
		}
		openTo(b, s, steps-1)
	}
	reportMemory(b)
}

// BenchmarkFollow appends epochs to a file of JSON lines, each when a viewer has the one before: a pulse, and what it
// takes from a program's write to a viewer beyond that.
func BenchmarkFollow(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	s, err := File(files.Here(path))
	if err != nil {
		b.Fatal(err)
	}
	p := NewPlayer(s, Options{})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() { p.Run(ctx); close(ended) }()
	feed := p.Feed()
	defer feed.Close()
	for n := 1; b.Loop(); n++ {
		if _, err := f.WriteString(lineOf(n) + "\n"); err != nil {
			b.Fatal(err)
		}
		for seen := 0; seen != n; {
			d, err := feed.Wait(ctx)
			if err != nil {
				b.Fatal(err)
			}
			if k := len(d.Epochs); k > 0 {
				seen = d.Epochs[k-1].Epoch
			}
		}
	}
	cancel()
	<-ended
}

func benchmarkOpen(b *testing.B, open func() (Source, error)) {
	for b.Loop() {
		s, err := open()
		if err != nil {
			b.Fatal(err)
		}
		openTo(b, s, million-1)
	}
	reportMemory(b)
}

// reportMemory reports what the process has from the system.
func reportMemory(b *testing.B) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys-m.HeapReleased)/1e6, "MB-sys")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/op")
}

// foreignLines writes what a program prints that knows two losses, 76 MB.
func foreignLines(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "foreign.jsonl")
	write(b, path, func(w *bufio.Writer) {
		for i := range million {
			fmt.Fprintf(w, `{"type":"epoch","epoch":%d,"loss":%.9f,"test_loss":%.9f}`+"\n", i, 1/float64(i+1), 2/float64(i+1))
		}
	})
	return path
}

// ownLines writes a run as newtop exports it.
func ownLines(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "own.jsonl")
	write(b, path, func(w *bufio.Writer) {
		for i := range million {
			line, err := event.EncodeEvent(event.EpochEvent{
				Epoch: i, Optimizer: "adam", Loss: event.Float(1 / float64(i+1)), TestLoss: 2, Elapsed: event.Float(i), Blocks: make([]event.BlockNorms, 3),
			})
			if err != nil {
				b.Fatal(err)
			}
			w.Write(line)
			w.WriteByte('\n')
		}
	})
	return path
}

// eventFiles writes a run of two tags for TensorBoard.
func eventFiles(b *testing.B) string {
	dir := b.TempDir()
	path := filepath.Join(dir, "events.out.tfevents.1.x")
	write(b, path, func(w *bufio.Writer) {
		out, err := tfevents.NewWriter(w, 1)
		if err != nil {
			b.Fatal(err)
		}
		for i := range int64(million) {
			wall := 1 + float64(i)/1000
			out.Write(tfevents.Scalar{Tag: "Loss/train", Step: i, Wall: wall, Value: 1 / float64(i+1)})
			out.Write(tfevents.Scalar{Tag: "Loss/test", Step: i, Wall: wall, Value: 2 / float64(i+1)})
		}
	})
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(-time.Minute)); err != nil {
		b.Fatal(err)
	}
	return dir
}

func write(b *testing.B, path string, put func(*bufio.Writer)) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	put(w)
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

func openTo(b *testing.B, s Source, newest int) {
	b.Helper()
	p := NewPlayer(s, Options{})
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan struct{})
	go func() { p.Run(ctx); close(ended) }()
	feed := p.Feed()
	for {
		d, err := feed.Wait(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if n := len(d.Epochs); n > 0 && d.Epochs[n-1].Epoch == newest {
			break
		}
	}
	feed.Close()
	cancel()
	<-ended
}
