package render

import (
	"slices"

	"newtop/tui/style"
)

// pencil draws in a cell. Places are parts of the cell, so that pictures of every kind have the same shapes.
type pencil interface {
	box(left, top, right, bottom float64)
	dot(x, y float64) // its middle
	// corner joins the middles of two sides of the cell by a quarter circle and a straight end: sx is 1 for the right
	// side and −1 for the left, sy 1 for the lower and −1 for the upper.
	corner(sx, sy float64)
	// halves are half the widths of a line in parts of the cell's width and height.
	halves(thick bool) (w, h float64)
}

// drawShape draws a character that is a shape; false is one that a font draws.
func drawShape(p pencil, r rune) bool {
	switch {
	case r >= 0x2800 && r <= 0x28ff:
		drawBraille(p, uint8(r-0x2800))
		return true
	case r >= 0x2580 && r <= 0x259f:
		return drawBlock(p, r)
	}
	return drawLine(p, r)
}

// drawBraille draws the dots of a pattern, whose bits count as in Unicode: down the left column, down the
// right one, and then the bottom row.
func drawBraille(p pencil, dots uint8) {
	for i, at := range [8][2]int{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}} {
		if dots>>i&1 == 1 {
			p.dot(0.25+0.5*float64(at[0]), 0.125+0.25*float64(at[1]))
		}
	}
}

// drawBlock draws the block elements: eighths from below and from the left, halves, quadrants. The shades
// are left to the font.
func drawBlock(p pencil, r rune) bool {
	switch {
	case r == 0x2580:
		p.box(0, 0, 1, 0.5)
		return true
	case r >= 0x2581 && r <= 0x2588:
		p.box(0, 1-float64(r-0x2580)/8, 1, 1)
		return true
	case r >= 0x2589 && r <= 0x258f:
		p.box(0, 0, float64(0x2590-r)/8, 1)
		return true
	case r == 0x2590:
		p.box(0.5, 0, 1, 1)
		return true
	}
	mask := slices.Index(style.Quadrants, r)
	if mask < 0 {
		return false
	}
	for i := range 4 {
		if mask>>i&1 == 1 {
			left, top := float64(i%2)/2, float64(i/2)/2
			p.box(left, top, left+0.5, top+0.5)
		}
	}
	return true
}

// arms are the directions in which a line leaves the middle of a cell: left, up, right, down.
var arms = map[rune]string{
	'─': "lr", '│': "ud", '┌': "rd", '┐': "ld", '└': "ru", '┘': "lu", '├': "urd", '┤': "uld", '┬': "lrd", '┴': "lru",
	'┼': "lrud",
	'╭': "rd", '╮': "ld", '╰': "ru", '╯': "lu", '━': "LR", '┃': "UD", '╌': "lr", '┄': "lr", '┊': "ud", '┆': "ud",
	'╴': "l", '╵': "u", '╶': "r", '╷': "d",
}

// dashes are how many pieces a broken line has.
var dashes = map[rune]int{'╌': 2, '┄': 3, '┆': 3, '┊': 4}

// drawLine draws the box-drawing characters that the screen uses; round corners are bent.
func drawLine(p pencil, r rune) bool {
	dirs, ok := arms[r]
	if !ok {
		return false
	}
	w, h := p.halves(false)
	if n := dashes[r]; n > 0 {
		for i := range n {
			from, to := (float64(i)+0.15)/float64(n), (float64(i)+0.85)/float64(n)
			if dirs == "lr" {
				p.box(from, 0.5-h, to, 0.5+h)
			} else {
				p.box(0.5-w, from, 0.5+w, to)
			}
		}
		return true
	}
	switch r {
	case '╭':
		p.corner(1, 1)
	case '╮':
		p.corner(-1, 1)
	case '╰':
		p.corner(1, -1)
	case '╯':
		p.corner(-1, -1)
	default:
		for _, d := range dirs {
			drawArm(p, d)
		}
	}
	return true
}

// drawArm draws a line from the middle of the cell to a side; a capital letter's is thick.
func drawArm(p pencil, direction rune) {
	w, h := p.halves(direction < 'a')
	switch direction {
	case 'l', 'L':
		p.box(0, 0.5-h, 0.5+w, 0.5+h)
	case 'r', 'R':
		p.box(0.5-w, 0.5-h, 1, 0.5+h)
	case 'u', 'U':
		p.box(0.5-w, 0, 0.5+w, 0.5+h)
	case 'd', 'D':
		p.box(0.5-w, 0.5-h, 0.5+w, 1)
	}
}
