package rowcache

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"newtop/internal/filelock"
)

// text writes a text of numbers, one a line, and returns its path.
func text(t *testing.T, numbers ...float64) string {
	t.Helper()
	var b strings.Builder
	for _, v := range numbers {
		fmt.Fprintln(&b, v)
	}
	path := filepath.Join(t.TempDir(), "t.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// backwards converts a text of three numbers, the last first, and counts how often.
func backwards(count *atomic.Int32) Convert {
	return func(texts []Text, rows *Writer) (any, error) {
		text := texts[0]
		count.Add(1)
		if err := rows.Begin(3, []Column{{Width: 8}}); err != nil {
			return nil, err
		}
		if _, err := text.Seek(0, 0); err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(text)
		for i := 2; lines.Scan(); i-- {
			v, err := strconv.ParseFloat(lines.Text(), 64)
			if err != nil {
				return nil, err
			}
			if err := rows.Put(i, []float64{v}); err != nil {
				return nil, err
			}
		}
		return text.Size, rows.Order()
	}
}

func values(t *testing.T, f *File) (all []float64) {
	t.Helper()
	if err := f.Each(0, f.Rows, func(_ int, v []float64) { all = append(all, v...) }); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// A text is converted once, and anew when it was changed, or for another key.
func TestOpen(t *testing.T) {
	var count atomic.Int32
	path, dir := text(t, 1, 2.5, 3), filepath.Join(t.TempDir(), "rows")
	for _, c := range []struct {
		key   string
		count int32
		want  []float64
	}{{"a", 1, []float64{3, 2.5, 1}}, {"a", 1, []float64{3, 2.5, 1}}, {"b", 2, []float64{3, 2.5, 1}}} {
		f, err := Open([]string{path}, c.key, []string{dir}, backwards(&count))
		if err != nil {
			t.Fatal(err)
		}
		var size int64
		if err := f.About(&size); err != nil || size != 8 {
			t.Errorf("about %d bytes, %v", size, err)
		}
		if got := values(t, f); count.Load() != c.count || !slices.Equal(got, c.want) {
			t.Errorf("key %s: %v after %d conversions", c.key, got, count.Load())
		}
	}
	if err := os.WriteFile(path, []byte("1\n2.5\n4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	f, err := Open([]string{path}, "a", []string{dir}, backwards(&count))
	if err != nil {
		t.Fatal(err)
	}
	if got := values(t, f); !slices.Equal(got, []float64{4, 2.5, 1}) {
		t.Errorf("after a change: %v", got)
	}
}

// A process waits for another that converts, and takes over if that one ends without a rows file.
func TestOpenWaits(t *testing.T) {
	var count atomic.Int32
	path, dir := text(t, 1, 2, 3), t.TempDir()
	f, err := Open([]string{path}, "a", []string{dir}, backwards(&count))
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	unlock, err := filelock.Lock(f.Path + ".lock")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		f, err := Open([]string{path}, "a", []string{dir}, backwards(&count))
		if err == nil {
			f.Close()
		}
		done <- err
	}()
	select {
	case err := <-done:
		t.Skipf("no locks here: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if count.Load() != 1 {
		t.Error("it did not wait")
	}
	unlock()
	if err := <-done; err != nil || count.Load() != 2 {
		t.Errorf("%d conversions, %v", count.Load(), err)
	}
}

// A conversion that fails leaves nothing but its lock, and its error is the conversion's.
func TestOpenFails(t *testing.T) {
	dir, wrong := t.TempDir(), errors.New("on purpose")
	_, err := Open([]string{text(t, 1)}, "a", []string{dir}, func([]Text, *Writer) (any, error) { return nil, wrong })
	if err != wrong {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 || !strings.HasSuffix(left[0], ".lock") {
		t.Errorf("left %v", left)
	}
}

// A conversion removes what others left that were ended, and what nobody uses, and nothing else.
func TestSweep(t *testing.T) {
	dir, id := t.TempDir(), "a.csv-0123456789abcdef01234567"
	for _, f := range []struct {
		name  string
		age   time.Duration
		stays bool
	}{
		{id, 29 * 24 * time.Hour, true}, {id + "0", 90 * 24 * time.Hour, true}, {"b" + id, 31 * 24 * time.Hour, false},
		{id + ".lock", time.Hour, true}, {"b" + id + ".lock", 31 * 24 * time.Hour, false},
		{id + ".12.part", time.Hour, true}, {id + ".13.part", 25 * time.Hour, false}, {"notes.part", 90 * 24 * time.Hour, true},
	} {
		path := filepath.Join(dir, f.name)
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-f.age)); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if _, err := os.Stat(path); (err == nil) != f.stays {
				t.Errorf("%s after %s: %v", f.name, f.age, err)
			}
		}()
	}
	var count atomic.Int32
	path := text(t, 1, 2, 3)
	load := func() {
		f, err := Open([]string{path}, "a", []string{dir}, backwards(&count))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	load()
	rows, _ := filepath.Glob(filepath.Join(dir, "t.txt-*[0-9a-f]"))
	if len(rows) != 1 {
		t.Fatalf("files %v", rows)
	}
	// To be read is to be used.
	if err := os.Chtimes(rows[0], time.Time{}, time.Now().Add(-48*time.Hour)); err != nil {
		t.Fatal(err)
	}
	load()
	if info, err := os.Stat(rows[0]); err != nil || time.Since(info.ModTime()) > time.Hour {
		t.Errorf("it was not touched (%v)", err)
	}
}
