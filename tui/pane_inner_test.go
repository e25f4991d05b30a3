package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// TestInnerPaneBlocks draws the pane of epochs with several solves, which get bars of their own where three epochs
// fit, and of epochs with one.
func TestInnerPaneBlocks(t *testing.T) {
	for _, w := range []int{40, 80, 120} {
		for _, blocks := range []int{1, 4, 16} {
			t.Run(fmt.Sprintf("%d-%d", blocks, w), func(t *testing.T) {
				a := staged(30, blocks)
				rows := new(Cache).draw(a.panes[layout.Inner], a.paneView(), layout.Rect{X: 0, Y: 0, W: w, H: 12}, CacheKey{})
				for i, r := range rows {
					if n := ansi.StringWidth(r); n != w {
						t.Errorf("row %d has %d columns", i, n)
					}
				}
				golden.RequireEqual(t, []byte(ansi.Strip(strings.Join(rows, "\n"))))
			})
		}
	}
}

// TestGroupsShowTheNewest: the last solve has a bar however many there are, and the one on the stage has its mark.
func TestGroupsShowTheNewest(t *testing.T) {
	for epochs := 1; epochs < 60; epochs++ {
		a := staged(epochs, 3)
		p := a.panes[layout.Inner].(*Inner)
		p.marked = markedSolve{max(1, epochs-40), 0, 1}
		columns, _ := p.groups(a.paneView(), 60, 9)
		if len(columns) == 0 {
			t.Fatalf("%d epochs: no bars", epochs)
		}
		marks, newest := 0, 0
		for _, c := range columns {
			newest = max(newest, c.Epoch)
			if c.marked {
				marks++
			}
		}
		if marks != 1 {
			t.Errorf("%d epochs: %d marks", epochs, marks)
		}
		p.marked.epoch = -1
		columns, _ = p.groups(a.paneView(), 60, 9)
		if last := columns[len(columns)-1]; last.Epoch != epochs || last.x+last.w > 60 {
			t.Errorf("%d epochs: the last bar is of %d and ends at %d", epochs, last.Epoch, last.x+last.w)
		}
	}
}

// TestTheatreASCII looks for what has no counterpart in seven bits.
func TestTheatreASCII(t *testing.T) {
	for _, keys := range [][]string{nil, {"up"}, {"up", "up", "up", "up"}, {"l"}} {
		a := staged(7, 1)
		a.Glyphs = style.GlyphsASCII.Set(nil)
		a.h.Apply(&feed.Delta{Status: a.h.Status, Slices: []event.SliceEvent{tuitest.SliceAlong("tr-newton", 0.09)}})
		for _, k := range keys {
			Press(a.panes[layout.Inner].(Keyed), a.paneView(), k)
		}
		if text := style.ToASCII(theatreText(t, a, 120, 37)); strings.Contains(text, "?") {
			t.Errorf("%v:\n%s", keys, text)
		}
	}
}
