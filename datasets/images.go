package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"newtop/datasets/fault"
)

// imageSet is a set in the files of MNIST: images and labels in IDX, apart for training and testing.
type imageSet struct {
	name, title string
	classes     []string
	// rival is the set whose files have the same names.
	rival string
}

var (
	mnist   = imageSet{"mnist", "MNIST", characters('0', 10), "fashion"}
	fashion = imageSet{"fashion", "Fashion-MNIST", []string{"T-shirt/top", "trouser", "pullover", "dress", "coat",
		"sandal", "shirt", "sneaker", "bag", "ankle boot"}, "mnist"}
)

// pair is a file of images and the file of their labels.
type pair struct{ images, labels string }

func pairOf(prefix string) pair {
	return pair{prefix + "-images-idx3-ubyte", prefix + "-labels-idx1-ubyte"}
}

func (p pair) in(dir string) (_ pair, ok bool) {
	images, haveImages := locate(dir, p.images)
	labels, haveLabels := locate(dir, p.labels)
	return pair{images, labels}, haveImages && haveLabels
}

// imageFiles is what there is of an image set: its pairs of files in order, what to say of them, and
// which part of their rows is for testing: one in that many, which are drawn, or the whole last pair for 0.
type imageFiles struct {
	pairs []pair
	note  string
	oneIn int
}

// drawn reports whether the rows to test on are drawn from all rows, as they have none of their own.
func (f *imageFiles) drawn(o *Options) bool { return f.oneIn > 0 || o.Test != "" || o.Rows > 0 }

// find looks for the most complete form of a set in one directory: the whole, one of its halves, or the
// excerpt that some places keep. own says that the directory belongs to this set alone.
func (s imageSet) find(dir string, own bool) (imageFiles, bool) {
	train, haveTrain := pairOf("train").in(dir)
	testFiles, haveExam := pairOf("t10k").in(dir)
	if !own {
		haveTrain = haveTrain && !s.foreign(train.labels)
		haveExam = haveExam && !s.foreign(testFiles.labels)
	}
	if haveTrain && haveExam {
		return imageFiles{[]pair{train, testFiles}, "", 0}, true
	}
	if haveTrain {
		return imageFiles{[]pair{train}, ", its training file alone", 6}, true
	}
	if haveExam {
		return imageFiles{[]pair{testFiles}, ", its test file alone", 5}, true
	}
	if part, ok := pairOf(s.name + "-first3600").in(dir); ok {
		return imageFiles{[]pair{part}, ", its first 3600 images", 6}, true
	}
	return imageFiles{}, false
}

// foreign reports whether a file is one of the rival set's. The two can't be distinguished by their names
// or formats, only by their checksums.
func (s imageSet) foreign(path string) bool {
	rival, err := findSource(s.rival)
	if err != nil {
		panic("datasets: " + err.Error())
	}
	// A file of another set may be of any size; it is not read to the end for this.
	if info, err := os.Stat(path); err != nil || info.Size() > maxLabels {
		return false
	}
	sum, err := sumFile(path)
	if err != nil {
		return false
	}
	for _, f := range rival.files {
		if f.sum == sum {
			return true
		}
	}
	return false
}

// maxLabels is more than any file of labels has of which the checksum is known.
const maxLabels = 1 << 16

// sumFile returns the SHA-256 of a file in hexadecimal.
func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func loadImages(s imageSet, o Options) (*Dataset, error) {
	dirs, err := searchDirs(s.name, o.Dir)
	if err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		if f, ok := s.find(dir, i == 0); ok {
			return s.read(f, o)
		}
	}
	missing := &NotFoundError{Name: s.name, Searched: dirs}
	for _, p := range []pair{pairOf("train"), pairOf("t10k")} {
		missing.Files = append(missing.Files, p.images, p.labels)
	}
	return nil, missing
}

func (s imageSet) read(f imageFiles, o Options) (*Dataset, error) {
	var parts []*imagePart
	rows := 0
	for _, p := range f.pairs {
		x, err := p.open(len(s.classes))
		if err != nil {
			return nil, err
		}
		defer x.Close()
		parts = append(parts, x)
		if a, b := x.images.shape, parts[0].images.shape; a[1] != b[1] || a[2] != b[2] {
			return nil, &fault.FormatError{File: p.images, Offset: 8,
				Found:    fmt.Sprintf("images of %d × %d", a[1], a[2]),
				Expected: fmt.Sprintf("%d × %d as in %s", b[1], b[2], f.pairs[0].images)}
		}
		rows += x.rows()
	}
	test := parts[len(parts)-1].rows()
	if o.Rows > 0 && o.Rows < rows {
		rows, test = o.Rows, o.Rows/5
	} else if f.oneIn > 0 {
		test = rows / f.oneIn
	}
	test, err := o.testRows(rows, test)
	if err != nil {
		return nil, err
	}
	to, err := arrangeImages(&o, parts, rows, test, f.drawn(&o))
	if err != nil {
		return nil, err
	}
	height, width := parts[0].images.shape[1], parts[0].images.shape[2]
	d := &Dataset{Name: s.name, Classes: slices.Clone(s.classes), InputNames: pixelNames(width, height),
		Title: fmt.Sprintf("%s%s: %s", s.title, f.note, to.Sizes.text(" images")),
		Image: &Image{Width: width, Height: height}}
	for part, n := range to.Sizes {
		*d.Split(Part(part)) = newSplit(n, height*width)
	}
	if err := fillImages(d, parts, rows, &to); err != nil {
		return nil, err
	}
	d.finish(greyLevels(width * height))
	return d, nil
}

// arrangeImages says which images are what. Those that have no order of their own are drawn to test on, with equal
// shares of all classes; all keep their order in each part.
func arrangeImages(o *Options, parts []*imagePart, rows, test int, drawn bool) (order, error) {
	if !drawn && o.Validation == "" && o.Folds == 0 {
		return o.arrange(rows, test, nil, nil)
	}
	var labels []int
	for _, x := range parts {
		all, err := x.readLabels(min(x.rows(), rows-len(labels)))
		if err != nil {
			return order{}, err
		}
		labels = append(labels, all...)
	}
	var positions []int
	if drawn {
		positions, test = apart(drawRows(rows, test, labels, o.Seed, streamTest))
	}
	return o.arrange(rows, test, positions, func(i int) int { return labels[i] })
}

// fillImages reads the images of all files, whose rows follow one another, each to its place.
func fillImages(d *Dataset, parts []*imagePart, rows int, to *order) error {
	first := 0 // of the file among all rows
	for _, x := range parts {
		n := min(x.rows(), rows-first)
		labels, err := x.readLabels(n)
		if err != nil {
			return err
		}
		err = x.images.each(n, func(i int, grey []byte) {
			part, at := to.to(first + i)
			s := d.Split(part)
			row := s.Inputs.RawRowView(at)
			for j, v := range grey {
				row[j] = float64(v)
			}
			s.Labels[at] = labels[i]
		})
		if err != nil {
			return err
		}
		first += n
	}
	return nil
}

// imagePart is a pair of files that belong together.
type imagePart struct {
	images, labels *idx
	classes        int
}

// open opens images and labels and makes sure that they belong together.
func (p pair) open(classes int) (*imagePart, error) {
	images, err := openIDX(p.images, 3)
	if err != nil {
		return nil, err
	}
	labels, err := openIDX(p.labels, 1)
	if err != nil {
		images.Close()
		return nil, err
	}
	x := &imagePart{images, labels, classes}
	if n := labels.shape[0]; n != x.rows() {
		x.Close()
		return nil, &fault.FormatError{File: p.labels, Offset: 4, Found: fmt.Sprintf("%d labels", n),
			Expected: fmt.Sprintf("%d, one for each image in %s", x.rows(), p.images)}
	}
	return x, nil
}

func (x *imagePart) rows() int { return x.images.shape[0] }

// Close closes both files.
func (x *imagePart) Close() error { return errors.Join(x.images.Close(), x.labels.Close()) }

// readLabels reads the first labels, each the index of a class.
func (x *imagePart) readLabels(rows int) (labels []int, err error) {
	data, err := x.labels.read(0, rows)
	if err != nil {
		return nil, err
	}
	for i, label := range data {
		if int(label) >= x.classes {
			return nil, &fault.FormatError{File: x.labels.file, Offset: x.labels.start() + int64(i),
				Found:    fmt.Sprintf("label %d", label),
				Expected: fmt.Sprintf("a label from 0 to %d", x.classes-1)}
		}
		labels = append(labels, int(label))
	}
	return labels, nil
}
