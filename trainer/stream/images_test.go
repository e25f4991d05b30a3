package stream

import (
	"context"
	"fmt"
	"image/color"
	"testing"

	"newtop/internal/routine"
	"newtop/trainer/event"
	"newtop/trainer/logs/files"
)

// sample is a color of the image of 24 × 16 pixels that the writers of testdata/images were given at a step: four
// rectangles, of which one is black.
func sample(step, quarter int, negative bool) color.RGBA {
	c := [4][3]int{{200, 10 * step, 0}, {40, 40, 40}, {0, 0, 0}, {0, 10 * step, 200}}[quarter]
	if negative {
		c = [3]int{255 - c[0], 255 - c[1], 255 - c[2]}
	}
	return color.RGBA{uint8(c[0]), uint8(c[1]), uint8(c[2]), 255}
}

// TestImages: images that PyTorch, TensorFlow and W&B wrote have their names, steps and pixels; of what is none, it is
// said what it is.
func TestImages(t *testing.T) {
	for _, c := range []struct {
		dir, names string
		steps      []int
		negative   string // name of the images that are the negative
	}{
		{"torch", "[samples [0 1 2 3] tone:audio [0] clip [3]]", []int{0, 1, 2, 3}, ""},
		{"tf", "[batch #1 [0 7] batch #2 [0 7]]", []int{0, 7}, "batch #2"},
		{"wandb", "[pred/sample [0 2] two #1 [0 2] two #2 [0 2]]", []int{0, 2}, "two #2"},
	} {
		t.Run(c.dir, func(t *testing.T) {
			source, err := Open(files.Here("testdata/images/"+c.dir), "")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			p := NewPlayer(source, Options{})
			routine.Go(func() { p.Run(ctx) })
			defer func() { cancel(); <-p.ended }()
			f := p.Feed()
			defer f.Close()
			now := func(until func(*event.Images) bool) *event.Images {
				for {
					d, err := f.Wait(ctx)
					if err != nil {
						t.Fatal(err)
					}
					if r := d.Status.Replay; r != nil && r.Images != nil && until(r.Images) {
						return r.Images
					}
				}
			}
			list := now(func(*event.Images) bool { return true })
			var names []string
			for _, n := range list.Names {
				if n.Kind != "" {
					n.Key += ":" + n.Kind
				}
				names = append(names, fmt.Sprint(n.Key, " ", n.Steps))
			}
			if got := fmt.Sprint(names); got != c.names {
				t.Fatalf("got %s", got)
			}
			for i, n := range list.Names {
				if n.Kind != "" {
					continue
				}
				step := n.Steps[len(n.Steps)-1]
				ask := event.ShowImage{Key: n.Key, Step: step}
				if err := f.Do(ctx, ask); err != nil {
					t.Fatal(err)
				}
				shown := now(func(list *event.Images) bool {
					return len(list.Shown) > 0 && list.Shown[len(list.Shown)-1].ShowImage == ask
				}).Shown
				s := shown[len(shown)-1]
				if n.Key == "clip" {
					if step = 0; s.Note != "an animated GIF: its first image" {
						t.Errorf("%s: %q", n.Key, s.Note)
					}
				} else if s.Note != "" {
					t.Errorf("%s: %q", n.Key, s.Note)
				}
				for q := range 4 {
					x, y := 6+12*(q%2), 4+8*(q/2)
					if got, want := s.Pixels.RGBAAt(x, y), sample(step, q, n.Key == c.negative); got != want {
						t.Errorf("%d %s, step %d at %d, %d: got %v, want %v", i, n.Key, step, x, y, got, want)
					}
				}
			}
		})
	}
}
