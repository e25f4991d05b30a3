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
)

const million = 1_000_000

// BenchmarkOpen opens runs of a million epochs until a viewer has the newest, and reports what the process then has
// from the system, MB-sys.
func BenchmarkOpen(b *testing.B) {
	b.Run("foreign", func(b *testing.B) {
		path := foreignLines(b)
		benchmarkOpen(b, func() (Source, error) { return File(path) })
	})
	b.Run("pipe", func(b *testing.B) {
		path := foreignLines(b)
		benchmarkOpen(b, func() (Source, error) {
			f, err := os.Open(path)
			return JSONLines(f, "-"), err
		})
	})
	b.Run("own", func(b *testing.B) {
		path := ownLines(b)
		benchmarkOpen(b, func() (Source, error) { return File(path) })
	})
	b.Run("tensorboard", func(b *testing.B) {
		dir := eventFiles(b)
		benchmarkOpen(b, func() (Source, error) { return TensorBoard(dir) })
	})
}

// BenchmarkFollow appends epochs to a file of JSON lines, each when a viewer has the one before: the time from a
// program's write to a viewer.
func BenchmarkFollow(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	s, err := File(path)
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
		openToNewest(b, s)
	}
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

func openToNewest(b *testing.B, s Source) {
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
		if n := len(d.Epochs); n > 0 && d.Epochs[n-1].Epoch == million-1 {
			break
		}
	}
	feed.Close()
	cancel()
	<-ended
}
