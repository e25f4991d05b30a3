package render

import (
	"fmt"
	"slices"
	"strings"

	"newtop/tui/style"
)

// cellShape is the path of a character that is drawn as a shape in the cell whose corner is (x, y); "" is one
// that a font draws.
func cellShape(r rune, x, y float64) string {
	switch {
	case r >= 0x2800 && r <= 0x28ff:
		return brailleShape(uint8(r-0x2800), x, y)
	case r >= 0x2580 && r <= 0x259f:
		return blockShape(r, x, y)
	}
	return lineShape(r, x, y)
}

// box is a rectangle in parts of a cell. At the cell's right and lower edges it reaches a little further, so
// that no gap shows between neighbours.
func box(x, y, left, top, right, bottom float64) string {
	const over = 0.15
	if right == 1 {
		right += over / cellWidth
	}
	if bottom == 1 {
		bottom += over / cellHeight
	}
	return fmt.Sprintf("M%.2f %.2fh%.2fv%.2fh%.2fz", x+left*cellWidth, y+top*cellHeight, (right-left)*cellWidth, (bottom-top)*cellHeight,
		(left-right)*cellWidth)
}

// brailleShape draws the dots of a pattern, whose bits count as in Unicode: down the left column, down the
// right one, and then the bottom row.
func brailleShape(dots uint8, x, y float64) string {
	if dots == 0 {
		return " "
	}
	const radius = 1.05
	var b strings.Builder
	for i, at := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if dots>>i&1 == 0 {
			continue
		}
		cx, cy := x+cellWidth*(0.25+0.5*float64(at[0])), y+cellHeight*(0.125+0.25*float64(at[1]))
		fmt.Fprintf(&b, "M%.2f %.2fa%[3]g %[3]g 0 1 0 %[4]g 0a%[3]g %[3]g 0 1 0 -%[4]g 0z", cx-radius, cy, radius, 2*radius)
	}
	return b.String()
}

// blockShape draws the block elements: eighths from below and from the left, halves, quadrants. The shades
// are left to the font.
func blockShape(r rune, x, y float64) string {
	switch {
	case r == 0x2580:
		return box(x, y, 0, 0, 1, 0.5)
	case r >= 0x2581 && r <= 0x2588:
		return box(x, y, 0, 1-float64(r-0x2580)/8, 1, 1)
	case r >= 0x2589 && r <= 0x258f:
		return box(x, y, 0, 0, float64(0x2590-r)/8, 1)
	case r == 0x2590:
		return box(x, y, 0.5, 0, 1, 1)
	}
	mask := slices.Index(style.Quadrants, r)
	if mask < 0 {
		return ""
	}
	var b strings.Builder
	for i := range 4 {
		if mask>>i&1 == 1 {
			left, top := float64(i%2)/2, float64(i/2)/2
			b.WriteString(box(x, y, left, top, left+0.5, top+0.5))
		}
	}
	return b.String()
}

// arms are the directions in which a line leaves the middle of a cell: left, up, right, down.
var arms = map[rune]string{
	'─': "lr", '│': "ud", '┌': "rd", '┐': "ld", '└': "ru", '┘': "lu", '├': "urd", '┤': "uld", '┬': "lrd", '┴': "lru", '┼': "lrud",
	'╭': "rd", '╮': "ld", '╰': "ru", '╯': "lu", '━': "LR", '┃': "UD", '╌': "lr", '┄': "lr", '┊': "ud", '┆': "ud", '╴': "l", '╵': "u", '╶': "r", '╷': "d",
}

// dashes are how many pieces a broken line has.
var dashes = map[rune]int{'╌': 2, '┄': 3, '┆': 3, '┊': 4}

// lineShape draws the box-drawing characters that the screen uses; round corners are bent.
func lineShape(r rune, x, y float64) string {
	dirs, ok := arms[r]
	if !ok {
		return ""
	}
	const thin, thick = 0.6, 1.3 // half the width
	if n := dashes[r]; n > 0 {
		return brokenLine(x, y, dirs == "lr", n, thin)
	}
	if strings.ContainsRune("╭╮╰╯", r) {
		return roundCorner(r, x, y, thin)
	}
	var b strings.Builder
	for _, d := range dirs {
		half := thin
		if d < 'a' {
			half, d = thick, d+'a'-'A'
		}
		w, h := half/cellWidth, half/cellHeight
		switch d {
		case 'l':
			b.WriteString(box(x, y, 0, 0.5-h, 0.5+w, 0.5+h))
		case 'r':
			b.WriteString(box(x, y, 0.5-w, 0.5-h, 1, 0.5+h))
		case 'u':
			b.WriteString(box(x, y, 0.5-w, 0, 0.5+w, 0.5+h))
		case 'd':
			b.WriteString(box(x, y, 0.5-w, 0.5-h, 0.5+w, 1))
		}
	}
	return b.String()
}

func brokenLine(x, y float64, across bool, n int, half float64) string {
	var b strings.Builder
	for i := range n {
		from, to := (float64(i)+0.15)/float64(n), (float64(i)+0.85)/float64(n)
		if across {
			b.WriteString(box(x, y, from, 0.5-half/cellHeight, to, 0.5+half/cellHeight))
		} else {
			b.WriteString(box(x, y, 0.5-half/cellWidth, from, 0.5+half/cellWidth, to))
		}
	}
	return b.String()
}

// roundCorner joins the middles of two sides by a quarter circle and a straight end.
func roundCorner(r rune, x, y, half float64) string {
	sx, sy := 1.0, 1.0 // towards the right and the bottom
	if r == '╮' || r == '╯' {
		sx = -1
	}
	if r == '╰' || r == '╯' {
		sy = -1
	}
	cx, cy := x+cellWidth/2, y+cellHeight/2
	const radius = cellWidth / 2
	point := func(dx, dy float64) string { return fmt.Sprintf("%.2f %.2f", cx+sx*dx, cy+sy*dy) }
	outer, inner := radius+half, radius-half
	sweep, back := 1, 0
	if sx*sy < 0 {
		sweep, back = 0, 1
	}
	return fmt.Sprintf("M%sL%sA%.2f %.2f 0 0 %d %sL%sA%.2f %.2f 0 0 %d %sL%sz",
		point(-half, cellHeight/2), point(-half, radius), outer, outer, sweep, point(radius, -half),
		point(radius, half), inner, inner, back, point(half, radius), point(half, cellHeight/2))
}
