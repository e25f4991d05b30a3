package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// picture draws a layout with a letter for each pane, one character for 4 × 2 cells.
func picture(s Screen) string {
	var b strings.Builder
	for y := HeaderRows; y < s.H-FooterRows; y += 2 {
		for x := 0; x < s.W; x += 4 {
			letter := byte('.')
			for _, p := range s.Slots {
				if p.Contains(x, y) {
					letter = "LAISTREWGHMC"[p.Pane]
				}
			}
			b.WriteByte(letter)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLayoutPictures(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want string
	}{
		{60, 16, `
LLLLLLLLLLLLLLL
AAAAAAAAAAAAAAA
IIIIIIIIIIIIIII
IIIIIIIIIIIIIII
RRRRRRRRRRRRRRR
WWWWWWWWWWWWWWW
GGGGGGGGGGGGGGG
`},
		{80, 24, `
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
IIIIIIIIIISSSSSSSSSS
IIIIIIIIIISSSSSSSSSS
IIIIIIIIIISSSSSSSSSS
TTTTTTTTTTRRRRRRRRRR
TTTTTTTTTTRRRRRRRRRR
TTTTTTTTTTRRRRRRRRRR
TTTTTTTTTTRRRRRRRRRR
`},
		{100, 28, `
LLLLLLLLLLLLLAAAAAAAAAAAA
LLLLLLLLLLLLLAAAAAAAAAAAA
LLLLLLLLLLLLLAAAAAAAAAAAA
LLLLLLLLLLLLLAAAAAAAAAAAA
LLLLLLLLLLLLLAAAAAAAAAAAA
IIIIIIIIIIIIISSSSSSSSSSSS
IIIIIIIIIIIIISSSSSSSSSSSS
IIIIIIIIIIIIISSSSSSSSSSSS
IIIIIIIIIIIIISSSSSSSSSSSS
TTTTTTTTTTRRRRRRRGGGGGGGG
TTTTTTTTTTRRRRRRRGGGGGGGG
TTTTTTTTTTRRRRRRRGGGGGGGG
TTTTTTTTTTRRRRRRRGGGGGGGG
`},
		{120, 40, `
LLLLLLLLLLLLLLLAAAAAAAAAAAAAAA
LLLLLLLLLLLLLLLAAAAAAAAAAAAAAA
LLLLLLLLLLLLLLLAAAAAAAAAAAAAAA
LLLLLLLLLLLLLLLAAAAAAAAAAAAAAA
LLLLLLLLLLLLLLLAAAAAAAAAAAAAAA
LLLLLLLLLLLLLLLAAAAAAAAAAAAAAA
LLLLLLLLLLLLLLLAAAAAAAAAAAAAAA
IIIIIIIIIIIIIIISSSSSSSSSSSSSSS
IIIIIIIIIIIIIIISSSSSSSSSSSSSSS
IIIIIIIIIIIIIIISSSSSSSSSSSSSSS
IIIIIIIIIIIIIIISSSSSSSSSSSSSSS
IIIIIIIIIIIIIIISSSSSSSSSSSSSSS
IIIIIIIIIIIIIIISSSSSSSSSSSSSSS
TTTTTTTTTTTTTRRRRRRRRWWWWWWWWW
TTTTTTTTTTTTTRRRRRRRRWWWWWWWWW
TTTTTTTTTTTTTRRRRRRRRGGGGGGGGG
TTTTTTTTTTTTTRRRRRRRRGGGGGGGGG
TTTTTTTTTTTTTRRRRRRRRGGGGGGGGG
TTTTTTTTTTTTTRRRRRRRRGGGGGGGGG
`},
		{160, 30, `
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
LLLLLLLLLLAAAAAAAAAAIIIIIIIIIISSSSSSSSSS
TTTTTTTTTTTTRRRRRRRRRRWWWWWWWWGGGGGGGGGG
TTTTTTTTTTTTRRRRRRRRRRWWWWWWWWGGGGGGGGGG
TTTTTTTTTTTTRRRRRRRRRRWWWWWWWWGGGGGGGGGG
TTTTTTTTTTTTRRRRRRRRRRWWWWWWWWGGGGGGGGGG
TTTTTTTTTTTTRRRRRRRRRRWWWWWWWWGGGGGGGGGG
TTTTTTTTTTTTRRRRRRRRRRWWWWWWWWGGGGGGGGGG
`},
	} {
		t.Run(fmt.Sprintf("%dx%d", c.w, c.h), func(t *testing.T) {
			if got := "\n" + picture(Dashboard(c.w, c.h, HeaderRows, false, Loss)); got != c.want {
				t.Errorf("got%s", got)
			}
		})
	}
}

// TestLayoutCovers checks at every size that each cell between header and footer has exactly one pane.
func TestLayoutCovers(t *testing.T) {
	for w := 1; w <= 260; w += 3 {
		for h := 1; h <= 90; h++ {
			for _, zoomed := range []bool{false, true} {
				s := Dashboard(w, h, HeaderRows, zoomed, Inner)
				if w < MinWidth || h < MinHeight {
					if len(s.Slots) > 0 {
						t.Fatalf("%d×%d has panes", w, h)
					}
					continue
				}
				area := 0
				for i, p := range s.Slots {
					if p.W < 1 || p.H < 1 || p.X < 0 || p.Y < HeaderRows || p.X+p.W > w || p.Y+p.H > h-FooterRows {
						t.Fatalf("%d×%d: pane %d at %+v", w, h, p.Pane, p.Rect)
					}
					if !p.Bare && (p.W < 28 || p.H < 5) {
						t.Fatalf("%d×%d: pane %d is only %+v", w, h, p.Pane, p.Rect)
					}
					area += p.W * p.H
					for _, q := range s.Slots[:i] {
						if p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H {
							t.Fatalf("%d×%d: panes %d and %d overlap", w, h, p.Pane, q.Pane)
						}
					}
				}
				if want := w * (h - HeaderRows - FooterRows); area != want {
					t.Fatalf("%d×%d: %d of %d cells", w, h, area, want)
				}
			}
		}
	}
}

func TestNeighbour(t *testing.T) {
	s := Dashboard(80, 24, HeaderRows, false, Loss)
	for _, c := range []struct {
		from   ID
		dx, dy int
		want   ID
	}{
		{Loss, 1, 0, Accuracy}, {Loss, 0, 1, Inner}, {Loss, -1, 0, Loss}, {Loss, 0, -1, Loss},
		{Region, -1, 0, Topology}, {Region, 0, -1, Spectrum}, {Log, 1, 0, Log},
	} {
		if got := s.Neighbour(c.from, c.dx, c.dy); got != c.want {
			t.Errorf("from %d by (%d, %d): %d, want %d", c.from, c.dx, c.dy, got, c.want)
		}
	}
}

// A pane without anything to show leaves its place to its neighbour, on screens of every size.
func TestDrop(t *testing.T) {
	for w := MinWidth; w < 230; w += 7 {
		for h := MinHeight; h < 70; h += 3 {
			s := Dashboard(w, h, HeaderRows, false, Loss)
			before, had := len(s.Slots), !s.hidden(Errors)
			s.Drop(Errors)
			area := 0
			for _, p := range s.Slots {
				area += p.W * p.H
			}
			if area != w*(h-HeaderRows-FooterRows) || had && (len(s.Slots) != before-1 || !s.hidden(Errors)) {
				t.Fatalf("%d×%d: %d of %d cells, %d panes of %d", w, h, area, w*(h-HeaderRows-FooterRows), len(s.Slots), before)
			}
		}
	}
}

// A run that is told by its figures alone has panes of what it tells, and of nothing else.
func TestMetricsPictures(t *testing.T) {
	only := func(has ...ID) func(ID) bool { return func(id ID) bool { return !slices.Contains(has, id) } }
	for _, c := range []struct {
		w, h  int
		focus ID
		blank func(ID) bool
		want  string
	}{
		{60, 16, Loss, only(Loss, Metrics, Log), `
LLLLLLLLLLLLLLL
LLLLLLLLLLLLLLL
LLLLLLLLLLLLLLL
MMMMMMMMMMMMMMM
MMMMMMMMMMMMMMM
MMMMMMMMMMMMMMM
GGGGGGGGGGGGGGG
`},
		{80, 24, Loss, only(Loss, Accuracy, Metrics, Log), `
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
MMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMM
`},
		{80, 24, Log, only(Metrics, Log), `
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGG
`},
		{120, 34, Metrics, only(Loss, Metrics, Log), `
LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL
LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL
LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL
LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL
LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL
LLLLLLLLLLLLLLLLLLLLLLLLLLLLLL
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
MMMMMMMMMMMMMMMMMMMMMMMMMMMMMM
GGGGGGGGGGGGGGGGGGGGGGGGGGGGGG
GGGGGGGGGGGGGGGGGGGGGGGGGGGGGG
`},
		{80, 24, Loss, only(Loss, Accuracy, Metrics, Spectrum, Log), `
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
LLLLLLLLLLAAAAAAAAAA
MMMMMMMMMMMMSSSSSSSS
MMMMMMMMMMMMSSSSSSSS
MMMMMMMMMMMMSSSSSSSS
MMMMMMMMMMMMSSSSSSSS
MMMMMMMMMMMMSSSSSSSS
MMMMMMMMMMMMSSSSSSSS
MMMMMMMMMMMMSSSSSSSS
`},
	} {
		if got := "\n" + picture(DashboardOfMetrics(c.w, c.h, HeaderRows, false, c.focus, false, c.blank)); got != c.want {
			t.Errorf("%d×%d, focus %d:%s", c.w, c.h, c.focus, got)
		}
	}
	for w := MinWidth; w <= 260; w += 7 {
		for h := MinHeight; h <= 90; h++ {
			for focus := range Panes {
				for _, blank := range []func(ID) bool{only(), only(Loss, Log), only(Loss, Accuracy, Metrics, Log), only(Metrics), only(Metrics, Spectrum)} {
					s, area, focused := DashboardOfMetrics(w, h, HeaderRows, false, focus, false, blank), 0, false
					for _, p := range s.Slots {
						area, focused = area+p.W*p.H, focused || p.Pane == focus
					}
					if area != w*(h-HeaderRows-FooterRows) || !focused && len(s.Slots) > 0 && !blank(focus) {
						t.Fatalf("%d×%d, focus %d: %d cells of %+v", w, h, focus, area, s.Slots)
					}
				}
			}
		}
	}
}

// TestCede: what a strip gives up goes to the one above, and every row belongs to one.
func TestCede(t *testing.T) {
	s := Dashboard(60, 16, HeaderRows, false, Loss)
	n, h := len(s.Slots), s.Slots[0].H+s.Slots[1].H
	s.Cede(s.Slots[1].Pane)
	s.Cede(Errors)
	s.Cede(s.Slots[0].Pane)
	if len(s.Slots) != n-1 || s.Slots[0].H != h || s.Slots[1].Y != s.Slots[0].Y+h {
		t.Errorf("%+v", s.Slots)
	}
}
