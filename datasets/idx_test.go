package datasets

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"newtop/datasets/fault"
)

// idxBytes writes an IDX file of bytes.
func idxBytes(data []byte, shape ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(shape))}
	for _, n := range shape {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return append(b, data...)
}

func packed(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pictures makes n images of 2 × 3 pixels and n labels; pixel j of image i is 10i + j, label i is i mod 10.
func pictures(n int) (images, labels []byte) {
	for i := range n {
		for j := range 6 {
			images = append(images, byte(10*i+j))
		}
		labels = append(labels, byte(i%10))
	}
	return idxBytes(images, uint32(n), 2, 3), idxBytes(labels, uint32(n))
}

func TestImages(t *testing.T) {
	images, labels := pictures(12)
	for _, tc := range []struct {
		name, set   string
		files       []string // prefixes, below the directory
		o           Options
		train, test int
	}{
		{"whole set in its directory", "mnist", []string{"mnist/train", "mnist/t10k"}, Options{}, 12, 12},
		{"whole set, other split", "mnist", []string{"train", "t10k"}, Options{Test: "4"}, 20, 4},
		{"first rows only", "mnist", []string{"train", "t10k"}, Options{Rows: 10}, 8, 2},
		{"training file alone", "fashion", []string{"fashion/train"}, Options{}, 10, 2},
		{"test file alone", "fashion", []string{"t10k"}, Options{}, 10, 2},
		{"excerpt", "fashion", []string{"fashion-first3600"}, Options{Test: "0.5"}, 6, 6},
	} {
		for _, gz := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/gzip=%t", tc.name, gz), func(t *testing.T) {
				tc.o.Dir = t.TempDir()
				for _, prefix := range tc.files {
					p := pairOf(prefix)
					if gz {
						write(t, tc.o.Dir, p.images+".gz", packed(t, images))
						write(t, tc.o.Dir, p.labels+".gz", packed(t, labels))
					} else {
						write(t, tc.o.Dir, p.images, images)
						write(t, tc.o.Dir, p.labels, labels)
					}
				}
				d := mustLoad(t, tc.set, tc.o)
				if d.Train.Rows() != tc.train || d.Test.Rows() != tc.test {
					t.Fatalf("%d + %d rows", d.Train.Rows(), d.Test.Rows())
				}
				if *d.Image != (Image{Width: 3, Height: 2}) || d.InputNames[5] != "r1c2" {
					t.Errorf("image %v, last pixel %s", *d.Image, d.InputNames[5])
				}
				own := tc.o.Test == "" && tc.o.Rows == 0 && len(tc.files) == 2
				checkPictures(t, d, tc.train+tc.test, own)
			})
		}
	}
}

func TestImageFaults(t *testing.T) {
	images, labels := pictures(12)
	for _, tc := range []struct {
		name           string
		images, labels []byte
		file           string
		offset         int64
		found          string
	}{
		{"empty", nil, labels, "images", 0, "the end of the file"},
		{"torn header", images[:10], labels, "images", 10, "the end of the file"},
		{"torn data", images[:50], labels, "images", 50, "the end of the file"},
		{"more data", append(slices.Clone(images), 1), labels, "images", int64(len(images)), "more data"},
		{"labels for images", labels, labels, "images", 0, "magic number 0x00000801"},
		{"images for labels", images, images, "labels", 0, "magic number 0x00000803"},
		{"floats", append([]byte{0, 0, 13}, images[3:]...), labels, "images", 0, "magic number 0x00000d03"},
		{"no images", idxBytes(nil, 0, 2, 3), labels, "images", 4, "dimension 1 of 0"},
		{"too great", idxBytes(nil, 1<<20, 1<<10, 2), labels, "images", 12, "dimension 3 of 2"},
		{"counts overflow", idxBytes(nil, 1<<31, 1<<31, 1<<31), labels, "images", 4, "dimension 1"},
		{"one label less", images, idxBytes(make([]byte, 11), 11), "labels", 4, "11 labels"},
		{"label of no class", images, idxBytes([]byte{0, 1, 2, 10, 0, 0, 0, 0, 0, 0, 0, 0}, 12), "labels", 11, "label 10"},
		{"torn gzip", packed(t, images)[:40], labels, "images", -1, "the end of the file"},
		{"damaged gzip", damaged(packed(t, images)), labels, "images", -1, "damaged data"},
		{"wrong gzip checksum", wrongSum(packed(t, images)), labels, "images", int64(len(images)), "damaged data"},
		{"gzip header alone", []byte{0x1f, 0x8b}, labels, "images", 0, "the end of the file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "train-images-idx3-ubyte", tc.images)
			write(t, dir, "train-labels-idx1-ubyte", tc.labels)
			_, err := Load("mnist", Options{Dir: dir})
			e, ok := errors.AsType[*fault.FormatError](err)
			if !ok || !strings.Contains(filepath.Base(e.File), tc.file) || !strings.Contains(e.Found, tc.found) ||
				tc.offset >= 0 && e.Offset != tc.offset || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s at offset %d of %s", err, tc.found, tc.offset, tc.file)
			}
		})
	}
}

func damaged(b []byte) []byte {
	b = slices.Clone(b)
	for i := 12; i < 30; i++ {
		b[i] ^= 0x5a
	}
	return b
}

func wrongSum(b []byte) []byte {
	b = slices.Clone(b)
	b[len(b)-6] ^= 1
	return b
}

// A few kilobytes of gzip that unpack to a gigabyte cost no more memory than their header declares.
func TestGzipBomb(t *testing.T) {
	var bomb bytes.Buffer
	w, err := gzip.NewWriterLevel(&bomb, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(idxBytes(nil, 10, 28, 28)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(w, zeros{}, 8<<20); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = readIDX(bomb.Bytes(), "bomb", 3)
	runtime.ReadMemStats(&after)
	if e, ok := errors.AsType[*fault.FormatError](err); !ok || e.Found != "more data" {
		t.Errorf("%v", err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated", used)
	}
	// A header that promises much and a file that has nothing: memory follows the file.
	runtime.ReadMemStats(&before)
	_, err = readIDX(idxBytes(nil, 1<<20, 32, 32), "empty", 3)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 1<<20 {
		t.Errorf("%v, %d bytes allocated", err, used)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

func TestRealImages(t *testing.T) {
	dir := sharedData(t)
	d := mustLoad(t, "mnist", Options{Dir: dir})
	if d.Train.Rows() != 8000 || d.Test.Rows() != 2000 || d.Inputs() != 784 {
		t.Fatalf("%d + %d rows", d.Train.Rows(), d.Test.Rows())
	}
	all := slices.Concat(d.Train.Labels, d.Test.Labels)
	if got, want := countsOf(all), []int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}; !slices.Equal(got, want) {
		t.Errorf("class counts %v, want %v", got, want)
	}
	if got, want := countsOf(d.Test.Labels), []int{196, 227, 206, 202, 196, 178, 192, 206, 195, 202}; !slices.Equal(got, want) {
		t.Errorf("class counts of the test rows %v, want a fifth, %v", got, want)
	}
	if in := within([]int{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}, d.Train.Labels[:10]); in < 5 {
		t.Errorf("first labels %v", d.Train.Labels[:10])
	}
	// The directory also has files of MNIST under the names that Fashion-MNIST uses.
	f := mustLoad(t, "fashion", Options{Dir: dir})
	if f.Train.Rows() != 3000 || f.Test.Rows() != 600 || !strings.Contains(f.Title, "3600") {
		t.Fatalf("%d + %d rows: %s", f.Train.Rows(), f.Test.Rows(), f.Title)
	}
	if in := within([]int{9, 0, 0, 3, 0, 2, 7, 2, 5, 5}, f.Train.Labels[:10]); in < 5 {
		t.Errorf("first labels %v", f.Train.Labels[:10])
	}
	if got := countsOf(f.Test.Labels); slices.Max(got)-slices.Min(got) > 12 {
		t.Errorf("class counts of the test rows %v", got)
	}
}

// within returns how many of the labels come again among others in their order, one after another.
func within(labels, others []int) (n int) {
	for _, label := range labels {
		if n < len(others) && others[n] == label {
			n++
		}
	}
	return n
}

// checkPictures looks for each of so many pictures, which are those of the files of twelve one after another, in one of the
// parts, in its order. Where the files say which rows are for testing these are the last; else each class has its share there.
func checkPictures(t *testing.T, d *Dataset, rows int, own bool) {
	t.Helper()
	seen := make([]int, 12)
	for _, s := range []*Split{&d.Train, &d.Test} {
		before, file := -1, 0
		for i, label := range s.Labels {
			row := int(math.Round(s.Inputs.At(i, 5)*255)-5) / 10
			if want := float64(10*row+5) / 255; s.Inputs.At(i, 5) != want || label != row%10 {
				t.Errorf("a picture with last pixel %v has label %d", s.Inputs.At(i, 5), label)
			}
			if row <= before {
				file++
			}
			before = row
			seen[row]++
		}
		if own && file > 0 || file > 1 {
			t.Errorf("rows out of order: %v", s.Labels)
		}
	}
	for i, n := range seen {
		if want := (rows - i + 11) / 12; n != want {
			t.Errorf("picture %d comes %d times, not %d", i, n, want)
		}
	}
	for class, n := range countsOf(d.Test.Labels) {
		all := countsOf(append(slices.Clone(d.Train.Labels), d.Test.Labels...))[class]
		if share := float64(all*d.Test.Rows()) / float64(rows); !own && math.Abs(float64(n)-share) >= 1 {
			t.Errorf("%d of %d rows of class %d are for testing, %.2f are its share", n, all, class, share)
		}
	}
}

func countsOf(labels []int) []int {
	counts := make([]int, 10)
	for _, label := range labels {
		counts[label]++
	}
	return counts
}

// FuzzIDX looks for input that panics, or that is accepted without being what its header says.
func FuzzIDX(f *testing.F) {
	images, labels := pictures(3)
	for _, b := range [][]byte{images, labels, images[:7], packed(f, images), packed(f, images)[:30],
		idxBytes(nil, 1<<31, 1<<31, 1<<31), {}, {0x1f, 0x8b, 8}} {
		f.Add(b, byte(3))
		f.Add(b, byte(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, dimensions byte) {
		n := 1 + int(dimensions%3)
		x, err := newIDX(bytes.NewReader(b), int64(len(b)), "f", n)
		if err != nil {
			checkFormatError(t, err)
			return
		}
		size := 1
		for _, s := range x.shape {
			size *= s
		}
		if len(x.shape) != n || x.data != int64(size) || !x.packed && int(x.start())+size != len(b) {
			t.Fatalf("shape %v with %d bytes", x.shape, len(b))
		}
		if size > 1<<20 {
			return
		}
		data, err := x.read(0, x.shape[0])
		if err != nil {
			checkFormatError(t, err)
			return
		}
		first := x.shape[0] / 3
		some, err := x.read(first, first+1)
		if row := int(x.row()); err != nil || len(data) != size || !bytes.Equal(some, data[first*row:(first+1)*row]) {
			t.Fatalf("%d bytes, of which row %d has %d (%v)", len(data), first, len(some), err)
		}
	})
}

func checkFormatError(t *testing.T, err error) {
	t.Helper()
	if _, ok := errors.AsType[*fault.FormatError](err); !ok || strings.Contains(err.Error(), "\n") {
		t.Fatalf("%T: %v", err, err)
	}
}

// readIDX reads all data of an IDX file.
func readIDX(b []byte, file string, dimensions int) ([]byte, error) {
	x, err := newIDX(bytes.NewReader(b), int64(len(b)), file, dimensions)
	if err != nil {
		return nil, err
	}
	return x.read(0, x.shape[0])
}
