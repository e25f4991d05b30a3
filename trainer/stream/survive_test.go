package stream

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// TestFileSurvives: whatever is done to a file that is watched, the watch goes on, says why nothing comes, and shows what
// comes later.
func TestFileSurvives(t *testing.T) {
	const log = "step 1 loss 2\nstep 2 loss 1\n"
	for _, test := range []struct {
		name   string
		harm   func(path string) error
		says   string // while it lasts
		mend   func(path string) error
		begins bool // what is there then is read from its beginning
		want   []float64
	}{
		{"truncated", func(path string) error { return os.Truncate(path, 0) }, "", add("step 1 loss 7\n"), true, []float64{7}},
		{"rotated by copy", func(path string) error {
			text, _ := os.ReadFile(path)
			return errors.Join(os.WriteFile(path+".1", text, 0o600), os.Truncate(path, 0))
		}, "", add("step 3 loss 7\n"), true, []float64{7}},
		{"rotated by name", func(path string) error { return os.Rename(path, path+".1") }, "gone", add("step 3 loss 7\n"), true, []float64{7}},
		{"a directory in its place", func(path string) error {
			return errors.Join(os.Remove(path), os.Mkdir(path, 0o700))
		}, "it is a directory: expected a file", func(path string) error {
			return errors.Join(os.Remove(path), add("step 3 loss 7\n")(path))
		}, true, []float64{7}},
		{"a link to nowhere", func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink(path+".none", path))
		}, "gone", func(path string) error {
			return errors.Join(os.Remove(path), add("step 3 loss 7\n")(path))
		}, true, []float64{7}},
		{"a device in its place", func(path string) error {
			return errors.Join(os.Remove(path), os.Symlink(os.DevNull, path))
		}, "expected a regular file", func(path string) error {
			return errors.Join(os.Remove(path), add("step 3 loss 7\n")(path))
		}, true, []float64{7}},
		{"garbage behind it", add("\x00\x01\xff\xfe\x00 9\n\x00\x00\x00"), "", add("\nstep 3 loss 7\n"), false, []float64{7}},
		{"garbage in its place", func(path string) error {
			return errors.Join(os.Rename(path, path+".1"), os.WriteFile(path, []byte("\x7fELF\x00\x01\x00\x02"), 0o600))
		}, "", func(path string) error {
			return errors.Join(os.Rename(path+".1", path), add("step 3 loss 7\n")(path))
		}, true, []float64{2, 1, 7}},
		{"prose in its place", func(path string) error {
			return errors.Join(os.Rename(path, path+".1"), os.WriteFile(path, []byte("wait\n"), 0o600), os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour)))
		}, `no metric yet, the first line is "wait"`, add("step 3 loss 7\n"), true, []float64{7}},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "train.log")
			if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := Open(files.Here(path), "")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if got := losses(t, s); !slices.Equal(got, []float64{2, 1}) {
				t.Fatalf("before: %v", got)
			}
			if err := test.harm(path); err != nil {
				t.Skip(err)
			}
			began := false
			came := func(want int) (got []float64) {
				t.Helper()
				for range 20 {
					events, err := all(t, s)
					for _, e := range events {
						if e, ok := e.(event.EpochEvent); ok {
							got = append(got, float64(e.Loss))
						}
					}
					switch {
					case errors.Is(err, ErrRestart):
						began, got = true, nil
						continue
					case !errors.Is(err, ErrNone):
						t.Fatalf("the watch ended: %v", err)
					}
					if want > 0 && len(got) >= want {
						break
					}
					time.Sleep(rowPatience / 8)
				}
				return got
			}
			came(0)
			if f := s.(*file); !f.missingSince.IsZero() {
				f.missingSince = time.Now().Add(-time.Minute)
			}
			if why := s.(waiter).Waiting(); !strings.Contains(why, test.says) || why != "" && test.says == "" || strings.Contains(why, "\n") {
				t.Errorf("said %q, want %q", why, test.says)
			}
			if err := test.mend(path); err != nil {
				t.Fatal(err)
			}
			if got := came(len(test.want)); !slices.Equal(got, test.want) || began != test.begins {
				t.Errorf("then losses %v, want %v; anew %v", got, test.want, began)
			}
			if why := s.(waiter).Waiting(); why != "" {
				t.Errorf("then said %q", why)
			}
		})
	}
}

// TestBoxInParts: a box that is written in parts is one row, at the step that stands at its end.
func TestBoxInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "train.log")
		os.WriteFile(path, nil, 0o600)
		s, err := File(files.Here(path))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, part := range []string{"-----\n| loss | 3 |\n", "| reward | 4 |\n| step | 7 |\n"} {
			if err := add(part)(path); err != nil {
				t.Fatal(err)
			}
			if e, err := s.Next(t.Context()); !errors.Is(err, ErrNone) {
				t.Fatalf("%v, %v before the box ends", e, err)
			}
		}
		for range 20 {
			time.Sleep(rowPatience / 4)
			events, _ := all(t, s)
			for _, e := range events {
				if e, ok := e.(event.EpochEvent); ok {
					if e.Epoch != 7 || e.Loss != 3 || len(e.Metrics) == 0 {
						t.Errorf("%+v", e)
					}
					return
				}
			}
		}
		t.Error("no row")
	})
}

func add(text string) func(string) error {
	return func(path string) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		return errors.Join(err, f.Close())
	}
}

// TestFoundEmpty: a run that is found by the name of its file is waited for until something stands in that, as SwanLab's.
func TestFoundEmpty(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run-x", "run-x.swanlab")
	os.Mkdir(filepath.Dir(path), 0o700)
	os.WriteFile(path, nil, 0o600)
	found := Find(files.Here(dir))
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	s, err := OpenFound(found[0], files.Here(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := losses(t, s); len(got) > 0 {
		t.Fatalf("read %v of an empty file", got)
	}
	os.WriteFile(path, []byte("step 1 loss 0.5\n"), 0o600)
	s.(*awaiting).checkedAt = time.Time{}
	if got := losses(t, s); len(got) != 1 {
		t.Errorf("read %v", got)
	}
}

// TestAwaitedFile: a file is waited for, and read as what it is when something stands in it.
func TestAwaitedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out", "train.log")
	s := Await(files.Here(path), "")
	defer s.Close()
	look := func() ([]float64, error) {
		s.(*awaiting).checkedAt = time.Time{}
		out := losses(t, s)
		_, err := all(t, s)
		return out, err
	}
	wants := func(what, says string) {
		t.Helper()
		if got, err := look(); len(got) > 0 || !errors.Is(err, ErrNone) {
			t.Fatalf("%s: %v, %v", what, got, err)
		}
		if why := s.(waiter).Waiting(); !strings.Contains(why, says) {
			t.Errorf("%s: said %q, want %q", what, why, says)
		}
	}
	wants("no directory", "nothing there yet")
	os.Mkdir(filepath.Dir(path), 0o700)
	wants("no file", "nothing there yet")
	os.WriteFile(path, nil, 0o600)
	wants("an empty file", "nothing there yet")
	os.WriteFile(path, []byte("step,loss\n1,2\n2,1\n"), 0o600)
	if got, err := look(); !slices.Equal(got, []float64{2, 1}) {
		t.Errorf("losses %v, %v", got, err)
	}
	if why := s.(waiter).Waiting(); why != "" {
		t.Errorf("then said %q", why)
	}
}
