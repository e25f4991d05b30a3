package convert

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"newtop/datasets/fault"
)

// fuzz has a fuzzer change files of that pattern: they are read, or refused with a FormatError.
func fuzz(f *testing.F, pattern string) {
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || paths == nil {
		f.Fatal(pattern, err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(content) < 20_000 {
			f.Add(content)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		table, err := Open([]File{named("f", content)})
		if err == nil {
			defer table.Close()
			for i := 0; i < len(table.Texts) && err == nil; i++ {
				err = table.Texts[i].Write(&bounded{left: 1 << 26})
			}
		}
		if _, ok := errors.AsType[*fault.FormatError](err); err != nil && err != io.ErrShortWrite && !ok {
			t.Fatal(err)
		}
	})
}

// bounded takes so many bytes: few bytes can be a table of many equal values.
type bounded struct{ left int }

func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func FuzzNPY(f *testing.F) { fuzz(f, "*.npy") }

func FuzzNPZ(f *testing.F) { fuzz(f, "*.npz") }

func FuzzParquet(f *testing.F) { fuzz(f, "apache/*.parquet") }
