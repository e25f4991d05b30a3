package shape

import "math"

// place is how far the program has come, as far as its lines said. Lines that say nothing of it belong there.
type place struct {
	epoch, step float64
	first       float64 // epoch
	epochs      float64 // how many there will be
	total       float64 // steps
	told        float64 // of either, to the sink
	named       course  // of counts that have a name
	progress    course  // of n/m without one, as a bar's beside lines that count
	headed      bool    // a line named the epoch for those that follow
	counted     bool    // a line above the next row has said n of m
	global      bool    // n/m counts on from epoch to epoch
}

// course is how counts of one kind move.
type course struct {
	last, m float64 // the count within the epoch, and how many it has
	gap     float64 // between two counts
	base    float64 // steps before the count began anew
	turned  bool    // the epoch is newer than that of the last count
}

func newPlace() place {
	nan := math.NaN()
	return place{epoch: nan, step: nan, first: nan, named: course{last: nan, m: nan},
		progress: course{last: nan, m: nan}}
}

// move notes what a line says, and says where it stands.
func (p *place) move(f *found) (step, epoch float64) {
	n, m, within, c := f.step, f.steps, f.within, &p.named
	if n != n && !f.eval {
		n, m, within, c = f.n, f.m, true, &p.progress
	}
	if f.epoch == f.epoch {
		if p.first != p.first || f.epoch < p.first {
			p.first = f.epoch
		}
		if f.epoch > p.epoch {
			p.named.turned, p.progress.turned = true, true
		}
		if f.epoch < p.epoch && f.epoch <= p.first { // the run begins again
			p.named.base, p.named.last = 0, math.NaN()
			p.progress.base, p.progress.last = 0, math.NaN()
		}
		p.epoch = f.epoch
		if f.epochs == f.epochs {
			p.epochs = f.epochs
		}
		p.headed = true
	}
	switch {
	case n != n:
	case f.global:
		p.step, c.last, c.turned, c.base = n, n, false, 0
		if m == m {
			p.total = m
		}
	default:
		p.count(c, n, m, within)
		c.last, c.m, c.turned = n, m, false
	}
	return p.step, p.epoch
}

// count finds the step of a count that may begin anew with each epoch.
func (p *place) count(c *course, n, m float64, within bool) {
	newer := c.turned
	known := p.headed && p.epoch == math.Trunc(p.epoch) && p.first == math.Trunc(p.first)
	switch {
	case !within && !newer:
		if n > c.last {
			c.gap = n - c.last
		}
		p.step = n + c.base
	case m == m && known:
		if newer && n > c.last && c.last < m {
			p.global = true
		}
		p.step, p.total = n, m
		if !p.global {
			p.step += (p.epoch - p.first) * m
			p.total = max(p.epochs, 1) * m
			if p.epochs == 0 {
				p.total = 0
			}
		}
	default:
		if n < c.last || within && newer && n == c.last { // the count began anew
			if c.m == c.m {
				c.base += c.m
			} else {
				c.base = max(c.base, p.step+max(c.gap, 1)-n)
			}
		} else if c.last == c.last && n > c.last {
			c.gap = n - c.last
		}
		p.step = n + c.base
		if m == m {
			p.total = c.base + m
		}
	}
	if !within && m == m {
		p.total = m
	}
}

// ahead is how many steps or epochs there will be, 0 if no line said it.
func (p *place) ahead() float64 {
	if p.step == p.step {
		return p.total
	}
	return p.epochs
}
