package chart

import (
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/tui/style"
)

var (
	absent    = float64(event.Absent)
	notFinite = float64(event.NotFinite)
	minusInf  = math.Inf(-1)
)

// TestSeriesHasThreeStates: what is absent leaves a curve as it is, what is not finite is kept.
func TestSeriesHasThreeStates(t *testing.T) {
	for _, c := range []struct {
		ys     []float64
		points int
		now    string
		before float64
	}{
		{nil, 0, "", absent},
		{[]float64{absent, absent}, 0, "", absent},
		{[]float64{3, absent, absent, 2, absent}, 2, "2", 3},
		{[]float64{3, 2, notFinite}, 3, "2 ×", 3},
		{[]float64{3, notFinite, absent}, 2, "3 ×", absent},
		{[]float64{3, notFinite, 1}, 3, "1", 3},
		{[]float64{math.Inf(1)}, 1, "×", absent},
		{[]float64{minusInf, 0 * math.Inf(1)}, 2, "×", absent},
	} {
		var s Series
		for i, y := range c.ys {
			s.Add(float64(i), y)
		}
		now := ""
		for _, p := range s.Now(style.Text, func(y float64) string { return string('0' + rune(y)) }) {
			now += p.Text
		}
		if b := s.Before(); now != c.now || s.Points != c.points || b != c.before && !(math.IsNaN(b) && math.IsNaN(c.before)) {
			t.Errorf("%v: %d points, now %q, before %v", c.ys, s.Points, now, s.Before())
		}
	}
}

// TestBrokenValuesAreMarked: a × stands at the x of each, through halving and going back, on charts of any size.
func TestBrokenValuesAreMarked(t *testing.T) {
	const n = 3 * MaxBuckets
	var s Series
	for i := range n {
		y := float64(i % 7)
		switch {
		case i == n/4:
			y = notFinite
		case i == n/2:
			y = minusInf
		case i == n-1:
			y = math.Inf(1)
		case i%3 == 1:
			y = absent
		}
		s.Add(float64(i), y)
	}
	draw := func(w, h int) []string {
		var c Canvas
		return c.Draw(testPen(), Plot{Curves: []Curve{{Series: &s, Token: style.Train, Mark: '*'}}, Closed: true}, w, h)
	}
	at := func(row string) (columns []int) {
		for x, r := range []rune(ansi.Strip(row)) {
			if r == '×' {
				columns = append(columns, x)
			}
		}
		return columns
	}
	for _, size := range [][2]int{{5, 1}, {8, 2}, {20, 3}, {40, 5}} {
		w, h := size[0], size[1]
		rows := draw(w, h)
		top, bottom := at(rows[0]), at(rows[len(rows)-1])
		want := [2]int{2, 1}
		if h == 1 {
			want = [2]int{3, 3}
		}
		if len(top) != want[0] || len(bottom) != want[1] && h < 4 {
			t.Errorf("%d × %d: marks at %v above and at %v below\n%s", w, h, top, bottom, strings.Join(rows, "\n"))
		}
		if top[0] < w/4-1 || top[0] > w/4+1 || top[len(top)-1] != w-1 {
			if w < 24 { // no axis
				t.Errorf("%d × %d: marks at %v", w, h, top)
			}
		}
	}
	if !s.Broken() {
		t.Error("the newest value is not finite")
	}
	s.Cut(n - 20)
	if s.Broken() || len(at(draw(8, 2)[0])) != 1 {
		t.Errorf("after going back:\n%s", strings.Join(draw(8, 2), "\n"))
	}
	s.Cut(1)
	if s.flaws != 0 || s.Broken() {
		t.Error("all marks should be gone")
	}
}

// TestNothingFinite says so, and does not wait.
func TestNothingFinite(t *testing.T) {
	var s Series
	s.Add(1, notFinite)
	var c Canvas
	if text := strings.Join(c.Draw(testPen(), Plot{Curves: []Curve{{Series: &s}}, Waiting: "waiting"}, 40, 3), "\n"); !strings.Contains(text, "× nothing that is finite") {
		t.Error(text)
	}
}
