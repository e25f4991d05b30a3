package tui

import (
	"fmt"
	"strings"
	"testing"
)

// picture draws a layout with a letter for each pane, one character for 4 × 2 cells.
func picture(s screenLayout) string {
	var b strings.Builder
	for y := headerRows; y < s.h-footerRows; y += 2 {
		for x := 0; x < s.w; x += 4 {
			letter := byte('.')
			for _, p := range s.places {
				if p.contains(x, y) {
					letter = "LAISTREWG"[p.pane]
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
			if got := "\n" + picture(layout(c.w, c.h, headerRows, false, paneLoss)); got != c.want {
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
				s := layout(w, h, headerRows, zoomed, paneInner)
				if w < minWidth || h < minHeight {
					if len(s.places) > 0 {
						t.Fatalf("%d×%d has panes", w, h)
					}
					continue
				}
				area := 0
				for i, p := range s.places {
					if p.w < 1 || p.h < 1 || p.x < 0 || p.y < headerRows || p.x+p.w > w || p.y+p.h > h-footerRows {
						t.Fatalf("%d×%d: pane %d at %+v", w, h, p.pane, p.rect)
					}
					if !p.bare && (p.w < 28 || p.h < 5) {
						t.Fatalf("%d×%d: pane %d is only %+v", w, h, p.pane, p.rect)
					}
					area += p.w * p.h
					for _, q := range s.places[:i] {
						if p.x < q.x+q.w && q.x < p.x+p.w && p.y < q.y+q.h && q.y < p.y+p.h {
							t.Fatalf("%d×%d: panes %d and %d overlap", w, h, p.pane, q.pane)
						}
					}
				}
				if want := w * (h - headerRows - footerRows); area != want {
					t.Fatalf("%d×%d: %d of %d cells", w, h, area, want)
				}
			}
		}
	}
}

func TestNeighbour(t *testing.T) {
	s := layout(80, 24, headerRows, false, paneLoss)
	for _, c := range []struct {
		from   paneID
		dx, dy int
		want   paneID
	}{
		{paneLoss, 1, 0, paneAccuracy}, {paneLoss, 0, 1, paneInner}, {paneLoss, -1, 0, paneLoss}, {paneLoss, 0, -1, paneLoss},
		{paneRegion, -1, 0, paneTopology}, {paneRegion, 0, -1, paneSpectrum}, {paneLog, 1, 0, paneLog},
	} {
		if got := s.neighbour(c.from, c.dx, c.dy); got != c.want {
			t.Errorf("from %d by (%d, %d): %d, want %d", c.from, c.dx, c.dy, got, c.want)
		}
	}
}
