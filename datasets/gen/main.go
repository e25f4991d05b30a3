// Command gen writes the outlines of capitals and digits that package datasets draws, from the Go fonts.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"log"
	"os"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomedium"
	"golang.org/x/image/font/gofont/gomediumitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonobolditalic"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/gofont/gosmallcaps"
	"golang.org/x/image/font/gofont/gosmallcapsitalic"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// faces are the Go fonts. The small capitals are what their fonts have in place of lower case; their
// upper case and digits are those of the regular fonts.
var faces = []struct {
	ttf   []byte
	small bool
}{
	{goregular.TTF, false}, {goitalic.TTF, false}, {gomedium.TTF, false}, {gomediumitalic.TTF, false},
	{gobold.TTF, false}, {gobolditalic.TTF, false}, {gomono.TTF, false}, {gomonoitalic.TTF, false},
	{gomonobold.TTF, false}, {gomonobolditalic.TTF, false}, {gosmallcaps.TTF, true}, {gosmallcapsitalic.TTF, true},
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("gen: expected the name of the file to write")
	}
	out, err := outlines()
	if err == nil {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		_, _ = w.Write(out) // memory takes it
		_ = w.Close()
		err = os.WriteFile(os.Args[1], packed.Bytes(), 0o644)
	}
	if err != nil {
		log.Fatal("gen: ", err)
	}
}

// outlines returns, of each face, the capitals and then the digits. All numbers are 16 bits, the lower ones first: how
// many segments there are (none: the character is left out); the least x and y and the greatest x and y; and of each
// segment how many points follow the current one, 0 where a contour starts, and its points. Places are in halves of the
// font's units, y downwards.
func outlines() (out []byte, err error) {
	var buf sfnt.Buffer
	write := func(v int) { out = binary.LittleEndian.AppendUint16(out, uint16(int16(v))) }
	writeHalves := func(v fixed.Int26_6) {
		if half := int(v) / 32; fixed.Int26_6(half*32) == v && half == int(int16(half)) {
			write(half)
			return
		}
		err = fmt.Errorf("%v is no place in halves of a unit", v)
	}
	for _, face := range faces {
		f, err := sfnt.Parse(face.ttf)
		if err != nil {
			return nil, err
		}
		em := fixed.I(int(f.UnitsPerEm()))
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" {
			switch {
			case face.small && c <= '9':
				write(0)
				continue
			case face.small:
				c += 'a' - 'A'
			}
			index, err := f.GlyphIndex(&buf, c)
			if err != nil {
				return nil, err
			}
			bounds, _, err := f.GlyphBounds(&buf, index, em, font.HintingNone)
			if err != nil {
				return nil, err
			}
			segments, err := f.LoadGlyph(&buf, index, em, nil)
			if err != nil {
				return nil, err
			}
			write(len(segments))
			for _, v := range []fixed.Int26_6{bounds.Min.X, bounds.Min.Y, bounds.Max.X, bounds.Max.Y} {
				writeHalves(v)
			}
			for _, s := range segments {
				n, ok := map[sfnt.SegmentOp]int{sfnt.SegmentOpMoveTo: 0, sfnt.SegmentOpLineTo: 1,
					sfnt.SegmentOpQuadTo: 2}[s.Op]
				if !ok {
					return nil, fmt.Errorf("%q has a cubic curve", c)
				}
				write(n)
				for _, p := range s.Args[:max(1, n)] {
					writeHalves(p.X)
					writeHalves(p.Y)
				}
			}
		}
	}
	return out, err
}
