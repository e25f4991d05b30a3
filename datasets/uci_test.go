package datasets

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/datasets/fault"
)

// letterCounts are the numbers of A to Z in the whole file, from the notes that come with it.
var letterCounts = []int{789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792,
	783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734}

func TestUCILetter(t *testing.T) {
	d := mustLoad(t, "letter", Options{Dir: sharedData(t)})
	if d.Train.Rows() != 16000 || d.Test.Rows() != 4000 {
		t.Fatalf("%d + %d rows", d.Train.Rows(), d.Test.Rows())
	}
	counts := make([]int, 26)
	for _, label := range slices.Concat(d.Train.Labels, d.Test.Labels) {
		counts[label]++
	}
	if !slices.Equal(counts, letterCounts) {
		t.Errorf("class counts %v", counts)
	}
	for i, want := range map[int]string{0: "T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8", 1: "I,5,12,3,7,2,10,5,5,4,13,3,9,2,8,4,10"} {
		got := d.Classes[d.Train.Labels[i]]
		for _, v := range raw(d, &d.Train, i) {
			got += fmt.Sprintf(",%d", int(math.Round(v)))
		}
		if got != want {
			t.Errorf("row %d is %s, want %s", i+1, got, want)
		}
	}
	short := mustLoad(t, "letter", Options{Dir: sharedData(t), Rows: 1000, Test: "100"})
	if short.Train.Rows() != 900 || short.Test.Rows() != 100 || short.Train.Labels[899] != d.Train.Labels[899] {
		t.Errorf("%d + %d rows", short.Train.Rows(), short.Test.Rows())
	}
}

func TestUCILetterFaults(t *testing.T) {
	good := "T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n"
	for name, tc := range map[string]struct {
		text   string
		line   int
		column string
	}{
		"empty":      {"", 1, ""},
		"torn":       {strings.Repeat(good, 19999), 20000, ""},
		"torn line":  {strings.Repeat(good, 19999) + "T,2,8", 20000, "y-box"},
		"too long":   {strings.Repeat(good, 20001), 20001, ""},
		"word":       {good + "T,2,8,3,x,1,8,13,0,6,6,10,8,0,8,0,8\n", 2, "high"},
		"too great":  {good + good + "T,2,8,3,16,1,8,13,0,6,6,10,8,0,8,0,8\n", 3, "high"},
		"very great": {"T,2,8,3,99999999999999999999,1,8,13,0,6,6,10,8,0,8,0,8\n", 1, "high"},
		"lower case": {"t,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n", 1, "lettr"},
		"missing":    {"T,2,8,3,5,1,8,13,0,6,6,10,8,,8,0,8\n", 1, "x-ege"},
		"one more":   {"T,2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8,1\n", 1, "yegvx"},
		"negative":   {"T,-2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,8\n", 1, "x-box"},
	} {
		_, err := readUCILetter(strings.NewReader(tc.text), "f", Options{})
		e, ok := errors.AsType[*fault.FormatError](err)
		if !ok || e.Line != tc.line || e.Column != tc.column || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want line %d column %q", name, err, tc.line, tc.column)
		}
	}
	dir := t.TempDir()
	crlf := strings.Repeat(strings.ReplaceAll(good, "\n", "\r\n"), 20000)
	path := write(t, dir, letterFile, []byte(crlf))
	if _, err := Load("letter", Options{Dir: dir}); err != nil {
		t.Errorf("CRLF in %s: %v", filepath.Base(path), err)
	}
}
