package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// imageSet is a set in the files of MNIST: images and labels in IDX, apart for training and testing.
type imageSet struct {
	name, title string
	classes     []string
	// rival is the set whose files have the same names.
	rival string
}

var (
	mnist   = imageSet{"mnist", "MNIST", digitNames(), "fashion"}
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
// which part of their rows is for testing: one in so many, or the whole last pair for 0.
type imageFiles struct {
	pairs []pair
	note  string
	oneIn int
}

// find looks for the most complete form of a set in one directory: the whole, one of its halves, or the
// excerpt that some places keep. own says that the directory belongs to this set alone.
func (s imageSet) find(dir string, own bool) (imageFiles, bool) {
	train, haveTrain := pairOf("train").in(dir)
	exam, haveExam := pairOf("t10k").in(dir)
	if !own {
		haveTrain = haveTrain && !s.foreign(train.labels)
		haveExam = haveExam && !s.foreign(exam.labels)
	}
	if haveTrain && haveExam {
		return imageFiles{[]pair{train, exam}, "", 0}, true
	}
	if haveTrain {
		return imageFiles{[]pair{train}, ", its training file alone", 6}, true
	}
	if haveExam {
		return imageFiles{[]pair{exam}, ", its test file alone", 5}, true
	}
	if part, ok := pairOf(s.name + "-first3600").in(dir); ok {
		return imageFiles{[]pair{part}, ", its first 3600 images", 6}, true
	}
	return imageFiles{}, false
}

// foreign reports whether a file is one of the rival set's. The two can't be told apart by their names
// or formats, only by their checksums.
func (s imageSet) foreign(path string) bool {
	rival, err := findSource(s.rival)
	if err != nil {
		panic("datasets: " + err.Error())
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
	dirs, err := places(s.name, o.Dir)
	if err != nil {
		return nil, err
	}
	for i, dir := range dirs {
		if f, ok := s.find(dir, i == 0); ok {
			return s.read(f, o)
		}
	}
	missing := &NotFoundError{Name: s.name, Looked: dirs}
	for _, p := range []pair{pairOf("train"), pairOf("t10k")} {
		missing.Files = append(missing.Files, p.images, p.labels)
	}
	return nil, missing
}

func (s imageSet) read(f imageFiles, o Options) (*Dataset, error) {
	var images, labels []*idx
	rows := 0
	for _, p := range f.pairs {
		x, l, err := p.read(len(s.classes))
		if err != nil {
			return nil, err
		}
		if len(images) > 0 && (x.shape[1] != images[0].shape[1] || x.shape[2] != images[0].shape[2]) {
			return nil, &FormatError{File: p.images, Offset: 8,
				Found:    fmt.Sprintf("images of %d × %d", x.shape[1], x.shape[2]),
				Expected: fmt.Sprintf("%d × %d as in %s", images[0].shape[1], images[0].shape[2], f.pairs[0].images)}
		}
		images, labels = append(images, x), append(labels, l)
		rows += x.shape[0]
	}
	test := images[len(images)-1].shape[0]
	if o.Rows > 0 && o.Rows < rows {
		rows, test = o.Rows, o.Rows/5
	} else if f.oneIn > 0 {
		test = rows / f.oneIn
	}
	test, err := o.testRows(rows, test)
	if err != nil {
		return nil, err
	}
	height, width := images[0].shape[1], images[0].shape[2]
	t := table{inputs: mat.NewDense(rows, width*height, nil), labels: make([]int, 0, rows)}
	grey := t.inputs.RawMatrix().Data
	for k, x := range images {
		for i := 0; i < min(len(x.data), len(grey)); i++ {
			grey[i] = float64(x.data[i])
		}
		grey = grey[min(len(x.data), len(grey)):]
		for _, label := range labels[k].data[:min(len(labels[k].data), rows-len(t.labels))] {
			t.labels = append(t.labels, int(label))
		}
	}
	d := &Dataset{Name: s.name, Classes: slices.Clone(s.classes), InputNames: pixelNames(width, height),
		Title: fmt.Sprintf("%s%s: %d images to train on, %d to test on", s.title, f.note, rows-test, test),
		Image: &Image{Width: width, Height: height}}
	d.Train, d.Test = t.tail(test)
	d.finish(greyLevels(width * height))
	return d, nil
}

// read reads images and labels and makes sure that they belong together.
func (p pair) read(classes int) (images, labels *idx, err error) {
	if images, err = openIDX(p.images, 3); err != nil {
		return nil, nil, err
	}
	if labels, err = openIDX(p.labels, 1); err != nil {
		return nil, nil, err
	}
	if n := labels.shape[0]; n != images.shape[0] {
		return nil, nil, &FormatError{File: p.labels, Offset: 4, Found: fmt.Sprintf("%d labels", n),
			Expected: fmt.Sprintf("%d, one for each image in %s", images.shape[0], p.images)}
	}
	for i, label := range labels.data {
		if int(label) >= classes {
			return nil, nil, &FormatError{File: p.labels, Offset: int64(8 + i), Found: fmt.Sprintf("label %d", label),
				Expected: fmt.Sprintf("a label from 0 to %d", classes-1)}
		}
	}
	return images, labels, nil
}
