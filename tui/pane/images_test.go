package pane

import (
	"bytes"
	"image"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// TestImages: the newest image of a name is asked for once, keys choose another step and another name, and the title
// is of the image that is drawn, not of the one that is awaited.
func TestImages(t *testing.T) {
	list := event.Images{Names: []event.ImageName{{Key: "a", Steps: []int{1, 5, 9}}, {Key: "b", Steps: []int{5}},
		{Key: "c", Steps: []int{0}, Kind: "audio"}}}
	v := viewOf(feed.Delta{Status: event.Status{Replay: &event.Replay{Images: &list}}})
	p := &Images{}
	see := func(title, body string, asks event.Command) {
		t.Helper()
		l := v.Line(80)
		p.Header(v, l)
		if got := strings.TrimSpace(ansi.Strip(l.Full())); got != title {
			t.Errorf("title %q, want %q", got, title)
		}
		if got := strings.TrimSpace(ansi.Strip(p.Body(v, 20, 4, true)[0])); got != body {
			t.Errorf("body %q, want %q", got, body)
		}
		if got := p.Ask(v.H); got != asks {
			t.Errorf("asks %v, want %v", got, asks)
		}
	}
	comes := func(key string, step int) {
		list.Shown = append(list.Shown, &event.Image{ShowImage: event.ShowImage{Key: key, Step: step}, Width: 40, Height: 8,
			Pixels: &image.RGBA{Pix: bytes.Repeat([]byte{255}, 4*40*8), Stride: 4 * 40, Rect: image.Rect(0, 0, 40, 8)}})
	}
	see("a  ←→ 3 of 3  ↑↓ 1 of 3", "reading", event.ShowImage{Key: "a", Step: 9})
	see("a  ←→ 3 of 3  ↑↓ 1 of 3", "reading", nil)
	comes("a", 9)
	see("a  step 9  ←→ 3 of 3  ↑↓ 1 of 3  40 × 8", strings.Repeat("▒", 20), nil)
	Press(p, v, "left")
	see("a  step 9  ←→ 3 of 3  ↑↓ 1 of 3  40 × 8", strings.Repeat("▒", 20), event.ShowImage{Key: "a", Step: 5})
	comes("a", 5)
	see("a  step 5  ←→ 2 of 3  ↑↓ 1 of 3  40 × 8", strings.Repeat("▒", 20), nil)
	Press(p, v, "down")
	see("b  ↑↓ 2 of 3", "reading", event.ShowImage{Key: "b", Step: 5})
	Press(p, v, "down")
	see("c  ↑↓ 3 of 3", "audio: not shown", nil)
	Press(p, v, "down")
	Press(p, v, "end")
	list.Names[0].Steps = append(list.Names[0].Steps, 12)
	comes("a", 12)
	see("a  step 12  ←→ 4 of 4  ↑↓ 1 of 3  40 × 8", strings.Repeat("▒", 20), nil)
}
