package datasets

import "math/bits"

// attributeNames are the inputs of the letter sets, in the order of the UCI file.
var attributeNames = []string{
	"x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar", "y2bar", "xybar",
	"x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx",
}

const attributes = 16

// letterSide is the side of the square raster of a letter, about that of Frey & Slate's.
const letterSide = 45

// bitmap is a black-and-white raster. Row 0 is the bottom one, bit x of a row is the pixel in column x.
type bitmap [letterSide]uint64

// attributesTo stores in dst the 16 attributes of P. W. Frey and D. J. Slate, "Letter Recognition Using
// Holland-style Adaptive Classifiers", Machine Learning 6, 1991, before they are scaled to integers.
// The box is the smallest rectangle around all pixels that are on; with w and h its width and height in
// pixels, and for a pixel that is on
//
//	x = its distance to the right of the box's centre, divided by w
//	y = its distance above the box's centre, divided by h
//
// they are
//
//	x-box  column of the box's centre from the left    x-bar  mean x     x2ybr  mean x²y
//	y-box  row of the box's centre from the bottom     y-bar  mean y     xy2br  mean xy²
//	width  w                                           x2bar  mean x²
//	high   h                                           y2bar  mean y²
//	onpix  number of pixels that are on                xybar  mean xy
//	x-ege  edges met going right, for each of the h rows: pixels on whose left neighbour is off
//	xegvy  sum of these edges' y, for each of the h rows
//	y-ege  edges met going up, for each of the w columns: pixels on whose lower neighbour is off
//	yegvx  sum of these edges' x, for each of the w columns
//
// The paper sums the edges' positions without dividing; here they are taken for each scan, like the edges
// themselves, because the columns of the UCI file show no trace of a letter's size. Neighbours outside the
// raster are off. It reports false when no pixel is on.
func (b *bitmap) attributesTo(dst *[attributes]float64) bool {
	var columns uint64
	bottom, top := -1, -1
	for y, row := range b {
		if row != 0 {
			columns |= row
			top = y
			if bottom < 0 {
				bottom = y
			}
		}
	}
	if columns == 0 {
		return false
	}
	left, right := bits.TrailingZeros64(columns), bits.Len64(columns)-1
	w, h := float64(right-left+1), float64(top-bottom+1)
	cx, cy := float64(left+right)/2, float64(bottom+top)/2

	var on, xEdges, yEdges int
	var sx, sy, sxx, syy, sxy, sxxy, sxyy, xEdgeY, yEdgeX float64
	below := uint64(0)
	for r := bottom; r <= top; r++ {
		row := b[r]
		y := (float64(r) - cy) / h
		var n int
		var rx, rxx float64
		for rest := row; rest != 0; rest &= rest - 1 {
			x := (float64(bits.TrailingZeros64(rest)) - cx) / w
			n++
			rx += x
			rxx += x * x
		}
		on += n
		sx += rx
		sxx += rxx
		sy += float64(n) * y
		syy += float64(n) * y * y
		sxy += rx * y
		sxxy += rxx * y
		sxyy += rx * y * y

		edges := bits.OnesCount64(row &^ (row << 1))
		xEdges += edges
		xEdgeY += float64(edges) * y
		for rest := row &^ below; rest != 0; rest &= rest - 1 {
			yEdges++
			yEdgeX += (float64(bits.TrailingZeros64(rest)) - cx) / w
		}
		below = row
	}
	n := float64(on)
	*dst = [attributes]float64{
		cx, cy, w, h, n,
		sx / n, sy / n, sxx / n, syy / n, sxy / n, sxxy / n, sxyy / n,
		float64(xEdges) / h, xEdgeY / h, float64(yEdges) / w, yEdgeX / w,
	}
	return true
}
