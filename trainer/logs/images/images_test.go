package images

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/event"
	"newtop/trainer/logs"
)

// encoded is a PNG whose header says that it is of another size, 0 for its own.
func encoded(t *testing.T, own image.Image, w, h uint32) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, own); err != nil {
		t.Fatal(err)
	}
	if header := b.Bytes()[12:29]; w > 0 {
		binary.BigEndian.PutUint32(header[4:], w)
		binary.BigEndian.PutUint32(header[8:], h)
		binary.BigEndian.PutUint32(b.Bytes()[29:], crc32.ChecksumIEEE(header))
	}
	return b.Bytes()
}

// TestShow: the size is asked for before pixels are taken, large images are reduced, and what can't be shown says so.
func TestShow(t *testing.T) {
	large := image.NewNRGBA(image.Rect(0, 0, 1000, 200)) // transparent but for its left half
	for y := range 200 {
		for x := range 500 {
			large.Set(x, y, color.NRGBA{10, 20, 30, 255})
		}
	}
	for _, c := range []struct {
		name, note string
		data       []byte
		err        error
		size       image.Point
	}{
		{name: "large", data: encoded(t, large, 0, 0), size: image.Pt(400, 80)},
		{name: "bomb", data: encoded(t, large, 100_000, 100_000), note: "100000 × 100000 pixels are too many to show"},
		{name: "torn", data: encoded(t, large, 0, 0)[:100], note: "pixel data"},
		{name: "text", data: []byte("no image"), note: "no PNG, JPEG, GIF or BMP"},
		{name: "gone", err: fmt.Errorf("the file is gone"), note: "the file is gone"},
	} {
		var l List
		l.Add(logs.Image{Key: c.name, Step: 3, Load: func() ([]byte, error) { return c.data, c.err }})
		l.Show(event.ShowImage{Key: c.name, Step: 3})
		now, _ := l.Now()
		s := now.Shown[0]
		if !strings.Contains(s.Note, c.note) || (s.Pixels != nil) != (c.note == "") {
			t.Errorf("%s: %q", c.name, s.Note)
		}
		if s.Pixels == nil {
			continue
		}
		if s.Pixels.Rect.Size() != c.size || s.Pixels.RGBAAt(50, 40) != (color.RGBA{10, 20, 30, 255}) ||
			s.Pixels.RGBAAt(350, 40) != (color.RGBA{255, 255, 255, 255}) {
			t.Errorf("%s: %v %v %v", c.name, s.Pixels.Rect, s.Pixels.RGBAAt(50, 40), s.Pixels.RGBAAt(350, 40))
		}
	}
}

// TestListIsBounded: of many steps some stay, the newest among them; a run that goes back takes its later ones along.
func TestListIsBounded(t *testing.T) {
	var l List
	load := func() ([]byte, error) { return nil, nil }
	for step := range 5000 {
		l.Add(logs.Image{Key: "a", Step: step, Load: load})
	}
	for i := range 2 * maxNames {
		l.Add(logs.Image{Key: fmt.Sprint(i), Load: load})
	}
	before, _ := l.Now()
	l.Add(logs.Image{Key: "a", Step: 4990, Load: load})
	after, count := l.Now()
	for i, c := range []struct {
		now  *event.Images
		last int
	}{{before, 4999}, {after, 4990}} {
		names := c.now.Names
		steps := names[0].Steps
		if len(names) != maxNames || len(steps) > maxSteps || len(steps) < maxSteps/2 || steps[len(steps)-1] != c.last ||
			!slices.IsSorted(steps) || steps[0] > 0 {
			t.Errorf("%d: %d names, %d steps from %d to %d", i, len(names), len(steps), steps[0], steps[len(steps)-1])
		}
	}
	if count != 5000+2*maxNames+1 {
		t.Error(count)
	}
}
