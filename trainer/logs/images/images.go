// Package images keeps what a log has of images, where each lies and not its pixels, and decodes those that are looked
// at, in bounded memory.
package images

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	_ "image/jpeg" // formats that decode reads
	_ "image/png"
	"slices"
	"sync"

	_ "golang.org/x/image/bmp"
	"golang.org/x/image/draw"

	"newtop/trainer/event"
	"newtop/trainer/logs"
)

const (
	maxNames  = 256
	maxSteps  = 512     // of a name; every second goes when there are more
	maxShown  = 16      // decoded images that stay, 320 KB each at most
	maxPixels = 1 << 24 // of an image that is decoded: 128 MB at most
	// An image is handed on at most this large, which is more than a screen of 400 × 100 cells shows.
	maxWidth, maxHeight = 400, 200
)

// List is what a log has of images. The zero value is empty; several goroutines may use it.
type List struct {
	mu    sync.Mutex
	names []event.ImageName
	loads [][]func() ([]byte, error) // by name and step
	shown []*event.Image
	gen   uint64 // counts the changes
	count int    // of all that were logged
}

// Add adds an image. Where the steps of a name go back, what was at later ones is void.
func (l *List) Add(i logs.Image) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gen++
	l.count++
	at := slices.IndexFunc(l.names, func(n event.ImageName) bool { return n.Key == i.Key })
	if at < 0 {
		if at = len(l.names); at == maxNames {
			return
		}
		l.names = append(l.names, event.ImageName{Key: i.Key, Kind: i.Kind})
		l.loads = append(l.loads, nil)
	}
	n, loads := &l.names[at], &l.loads[at]
	first, _ := slices.BinarySearch(n.Steps, i.Step)
	n.Steps, *loads = append(n.Steps[:first:first], i.Step), append((*loads)[:first:first], i.Load)
	if len(n.Steps) > maxSteps {
		n.Steps, *loads = thinned(n.Steps), thinned(*loads)
	}
}

// thinned leaves out every second one, but the last.
func thinned[T any](list []T) (out []T) {
	for i, v := range list {
		if i%2 == 0 || i == len(list)-1 {
			out = append(out, v)
		}
	}
	return out
}

// Now is what there is now, nil for nothing, and how many were logged.
func (l *List) Now() (now *event.Images, count int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.names) > 0 {
		now = &event.Images{Names: slices.Clone(l.names), Shown: l.shown, Gen: l.gen}
	}
	return now, l.count
}

// Show decodes an image, which Now tells then. What can't be shown has no pixels, and the reason.
func (l *List) Show(c event.ShowImage) {
	shown := &event.Image{ShowImage: c, Note: "no longer there"}
	if load := l.load(c); load != nil {
		shown.Note = ""
		if data, err := load(); err != nil {
			shown.Note = err.Error()
		} else {
			decode(data, shown)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gen++
	l.shown = append(slices.Clip(l.shown[max(0, len(l.shown)+1-maxShown):]), shown)
}

// load is what reads an image, nil where there is none.
func (l *List) load(c event.ShowImage) func() ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, n := range l.names {
		if at, found := slices.BinarySearch(n.Steps, c.Step); found && n.Key == c.Key {
			return l.loads[i][at]
		}
	}
	return nil
}

// decode reads an image, on white where it is transparent, reduced to what a screen may show. Its size is asked for
// before pixels are taken.
func decode(data []byte, to *event.Image) {
	size, format, err := image.DecodeConfig(bytes.NewReader(data))
	switch to.Width, to.Height = size.Width, size.Height; {
	case err != nil:
		to.Note = "no PNG, JPEG, GIF or BMP"
		return
	case size.Width < 1 || size.Height < 1 || size.Width > maxPixels/size.Height:
		to.Note = fmt.Sprintf("%d × %d pixels are too many to show", size.Width, size.Height)
		return
	}
	var full image.Image
	if rest := bytes.NewReader(data); format == "gif" {
		if full, err = gif.Decode(rest); rest.Len() > 1 { // more than its end
			to.Note = "an animated GIF: its first image"
		}
	} else {
		full, _, err = image.Decode(rest)
	}
	if err != nil {
		to.Note = err.Error()
		return
	}
	share := min(1, maxWidth/float64(size.Width), maxHeight/float64(size.Height))
	to.Pixels = image.NewRGBA(image.Rect(0, 0, max(1, int(float64(size.Width)*share+0.5)),
		max(1, int(float64(size.Height)*share+0.5))))
	draw.Draw(to.Pixels, to.Pixels.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.BiLinear.Scale(to.Pixels, to.Pixels.Rect, full, full.Bounds(), draw.Over, nil)
}
