package stream

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/klauspost/compress/zstd"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// pointsOf returns all series that a source has now, and the error that it ended with, of epochs that are lent or not.
// It closes the source.
func pointsOf(t *testing.T, s Source, err error, lent ...bool) (string, error) {
	t.Helper()
	var runs []string
	err = eachRun(s, err, func(told []*event.Series) {
		var text strings.Builder
		for _, series := range told {
			fmt.Fprintln(&text, series.Key, slices.Collect(series.All()))
		}
		runs = append(runs, text.String())
	}, lent...)
	if err != nil {
		return "", err
	}
	return strings.Join(runs, "\n"), nil
}

// eachRun calls note with the series of each run that a source has now, and returns the error that it ended with. It closes
// the source.
func eachRun(s Source, err error, note func([]*event.Series), lent ...bool) error {
	if err != nil {
		return err
	}
	defer s.Close()
	ctx := context.Background()
	var c event.Collection
	if len(lent) > 0 {
		Lend(s, c.SeeEpoch)
	}
	for idle := 0; ; {
		e, err := s.Next(ctx)
		switch {
		case err == nil:
			if run, begins := e.(event.RunEvent); begins && c.Run.ID != "" && run.ID != c.Run.ID {
				note(c.Told())
			}
			c.See(e)
		case errors.Is(err, ErrNone) && idle < 10: // a pipe has an end
			if idle++; s.Read() == 1 {
				idle = 10
			}
			Final(s)
			wait, cancel := context.WithTimeout(ctx, rowPatience+time.Millisecond)
			_ = s.Wait(wait)
			cancel()
		case errors.Is(err, ErrNone), errors.Is(err, io.EOF):
			note(c.Told())
			return nil
		default:
			return err
		}
	}
}

// samples are logs of each kind and in each encoding.
func samples(t *testing.T) map[string][]byte {
	var text, csv, json strings.Builder
	csv.WriteString("step,loss,größe\n")
	for i := range 300 {
		fmt.Fprintf(&text, "step %d loss %.4f größe %d\n", i, 1/float64(i+1), i%7)
		fmt.Fprintf(&csv, "%d,%.4f,%d\n", i, 1/float64(i+1), i%7)
		fmt.Fprintf(&json, `{"step": %d, "loss": %.4f, "größe": %d}`+"\n", i, 1/float64(i+1), i%7)
	}
	list := map[string][]byte{}
	for kind, plain := range map[string]string{"text": text.String(), "csv": csv.String(), "json": json.String()} {
		latin := make([]byte, 0, len(plain))
		for _, c := range plain {
			latin = append(latin, byte(c))
		}
		wide := func(order binary.AppendByteOrder, text string) (b []byte) {
			for _, u := range utf16.Encode([]rune(text)) {
				b = order.AppendUint16(b, u)
			}
			return b
		}
		var gz, zst bytes.Buffer
		packer, err := zstd.NewWriter(&zst)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), packer} {
			if _, err := w.Write([]byte(plain)); err != nil || w.Close() != nil {
				t.Fatal(err)
			}
		}
		list[kind] = []byte(plain)
		list[kind+" gz"], list[kind+" zst"] = gz.Bytes(), zst.Bytes()
		list[kind+" without an end"] = []byte(strings.TrimSuffix(plain, "\n"))
		list[kind+" mark"] = []byte("\ufeff" + plain)
		list[kind+" Latin-1"] = latin
		list[kind+" UTF-16"] = wide(binary.LittleEndian, plain)
		list[kind+" UTF-16 mark"] = wide(binary.LittleEndian, "\ufeff"+plain)
		list[kind+" big UTF-16"] = wide(binary.BigEndian, plain)
		list[kind+" big UTF-16 mark"] = wide(binary.BigEndian, "\ufeff"+plain)
		list[kind+" hole"] = []byte(strings.Repeat("\x00", 1000) + plain)
		at := strings.Index(plain, "\n") + 1
		for range 150 {
			at += strings.Index(plain[at:], "\n") + 1
		}
		list[kind+" hole between lines"] = []byte(plain[:at] + strings.Repeat("\x00", 1001) + plain[at:])
	}
	return list
}

// TestPlacesAreAlike: a log gives the same points from a pipe, as a file and in a directory; and however it is written
// or packed, those of its text.
func TestPlacesAreAlike(t *testing.T) {
	all := func(t *testing.T, name string, log []byte) string {
		t.Helper()
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, log, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(files.Here(path), "")
		file, fileErr := pointsOf(t, s, err)
		s, err = Open(files.Here(path), "")
		if lent, err := pointsOf(t, s, err, true); lent != file || (err == nil) != (fileErr == nil) {
			t.Errorf("%s: a file has\n%.300s%v\nlent it has\n%.300s%v", name, file, fileErr, lent, err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		piped, pipeErr := pointsOf(t, Lines(f, "-"), nil)
		if (fileErr == nil) != (pipeErr == nil) || file != piped {
			t.Errorf("%s: a file has\n%.300s%v\na pipe has\n%.300s%v", name, file, fileErr, piped, pipeErr)
		}
		if list := Find(files.Here(dir)); len(list) == 1 {
			s, err := Open(files.Here(dir), "")
			found, err := pointsOf(t, s, err)
			if (err == nil) != (fileErr == nil) || found != file {
				t.Errorf("%s: a file has\n%.300s\na directory has\n%.300s%v", name, file, found, err)
			}
		} else if file != "" && fileErr == nil {
			t.Logf("%s: not found in its directory", name)
		}
		return file
	}
	list := samples(t)
	plain := map[string]string{}
	for _, kind := range []string{"text", "csv", "json"} {
		plain[kind] = all(t, "plain", list[kind])
	}
	for name, log := range list {
		kind, how, _ := strings.Cut(name, " ")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := all(t, cmp.Or(strings.ReplaceAll(how, " ", "."), "plain"), log)
			if want := plain[kind]; got != want || strings.Count(got, "\n") != 2 {
				t.Errorf("%.300s\nas text\n%.300s", got, want)
			}
		})
	}
	t.Run("corpus", func(t *testing.T) {
		paths, _ := filepath.Glob("../../../../shared/corpus/*.*")
		if len(paths) == 0 {
			t.Skip("../shared/corpus is not there")
		}
		for _, path := range paths {
			kinds := []string{".log", ".csv", ".jsonl", ".dat"}
			if info, err := os.Stat(path); err != nil || info.IsDir() || !slices.Contains(kinds, filepath.Ext(path)) ||
				strings.HasPrefix(filepath.Base(path), "t_") {
				continue
			}
			log, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				all(t, filepath.Base(path), log)
			})
		}
	})
}
