package datasets

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// parts writes a table whole and in three files of a directory, with a header each.
func parts(t *testing.T) (whole, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "parts")
	all := "x,kind,y\n"
	for i, name := range []string{"b.csv", "a.csv", "c.csv"} {
		text := "x,kind,y\n"
		for k := range 40 {
			text += fmt.Sprintf("%d,%c,%g\n", k*k%(11+i), 'p'+(k+i)%3, float64(k)/7)
		}
		write(t, dir, name, []byte(text))
	}
	for _, name := range []string{"a.csv", "b.csv", "c.csv"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all += strings.TrimPrefix(string(text), "x,kind,y\n")
	}
	write(t, dir, ".hidden.csv", []byte("1,2\n"))
	write(t, dir, "notes.txt", []byte("1,2\n"))
	return write(t, t.TempDir(), "whole.csv", []byte(all)), dir
}

// Files are one table, in the order of their names, however they are asked for, and whether all of it is read or a part.
func TestSeveralFiles(t *testing.T) {
	whole, dir := parts(t)
	t.Setenv("NEWTOP_CACHE", t.TempDir())
	want := mustLoad(t, whole, Options{Seed: 3})
	a, b, c := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.csv"), filepath.Join(dir, "c.csv")
	for _, ask := range []struct{ name, dir string }{
		{filepath.Join(dir, "*.csv"), ""}, {dir, ""}, {c + "," + a + "," + b, ""}, {filepath.Join(dir, "[ab].csv") + "," + dir, ""},
		{"*.csv", dir}, {"c.csv,a.csv,b.csv", dir}, {"parts", filepath.Dir(dir)},
	} {
		got := mustLoad(t, ask.name, Options{Seed: 3, Dir: ask.dir})
		if got.Name != "a.csv,…,c.csv" || !strings.HasSuffix(got.Title, ", from 3 files") {
			t.Errorf("%s: %s, %s", ask.name, got.Name, got.Title)
		}
		if !sameDataset(got, want) || !mat.Equal(got.Train.Targets, want.Train.Targets) {
			t.Errorf("%s has other rows than one file", ask.name)
		}
	}
	// A file with such a name wins.
	odd := filepath.Join(dir, "a.csv,b.csv")
	write(t, dir, "a.csv,b.csv", []byte("1,2\n3,4\n"))
	if d := mustLoad(t, odd, Options{}); d.Name != "a.csv,b.csv" || d.Inputs() != 1 {
		t.Errorf("%s, %d inputs", d.Name, d.Inputs())
	}
	if err := os.Remove(odd); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		filepath.Join(dir, "no*.csv"): "no file that", a + ",": "behind each comma", a + ",none.csv": `no file "none.csv"`, "[": "a pattern",
		filepath.Dir(dir): "*.csv", a + ",letters": `no file "letters"`,
	} {
		if _, err := Load(name, Options{}); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	write(t, dir, "d.csv", []byte("x,sort,y\n1,p,2\n"))
	_, err := Load(dir, Options{})
	if want := filepath.Join(dir, "d.csv") + `:1: found "sort" for column 2, expected "kind" as in the header of ` + a; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestSeveralFilesUnreadable(t *testing.T) {
	_, dir := parts(t)
	gone := filepath.Join(dir, "b.csv")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	_, err := Load(filepath.Join(dir, "a.csv")+","+gone, Options{})
	if e, ok := errors.AsType[*NotFoundError](err); !ok || e.Name != gone {
		t.Errorf("%v", err)
	}
}
