package shape

import "math"

// place is how far the program has come, as far as its lines said. Lines that say nothing of it belong there.
type place struct {
	epoch, step float64
	first       float64 // epoch
	epochs      float64 // how many there will be
	total       float64 // steps
	told        float64 // of either, to the sink
	last, m     float64 // the count within the epoch, and how many it has
	gap         float64 // between two counts
	base        float64 // steps before the count began anew
	headed      bool    // a line named the epoch for those that follow
	counted     bool    // a line above the next row has said n of m
	turned      bool    // the epoch is newer than that of the last count
	global      bool    // n/m counts on from epoch to epoch
}

func newPlace() place {
	nan := math.NaN()
	return place{epoch: nan, step: nan, first: nan, last: nan, m: nan}
}

// move notes what a line says, and says where it stands.
func (p *place) move(f *found) (step, epoch float64) {
	n, m, within := f.step, f.steps, f.within
	if n != n && !f.eval {
		n, m, within = f.n, f.m, true
	}
	if f.epoch == f.epoch {
		if p.first != p.first || f.epoch < p.first {
			p.first = f.epoch
		}
		p.turned = p.turned || f.epoch > p.epoch
		if f.epoch < p.epoch && f.epoch <= p.first { // the run begins again
			p.base, p.last = 0, math.NaN()
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
		p.step, p.last, p.turned, p.base = n, n, false, 0
		if m == m {
			p.total = m
		}
	default:
		p.count(n, m, within, p.turned)
		p.last, p.m, p.turned = n, m, false
	}
	return p.step, p.epoch
}

// count finds the step of a count that may begin anew with each epoch.
func (p *place) count(n, m float64, within, newer bool) {
	known := p.headed && p.epoch == math.Trunc(p.epoch)
	switch {
	case !within && !newer:
		if n > p.last {
			p.gap = n - p.last
		}
		p.step = n + p.base
	case m == m && known:
		if newer && n > p.last && p.last < m {
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
		if n < p.last || within && newer && n == p.last { // the count began anew
			if p.m == p.m {
				p.base += p.m
			} else {
				p.base = max(p.base, p.step+max(p.gap, 1)-n)
			}
		} else if p.last == p.last && n > p.last {
			p.gap = n - p.last
		}
		p.step = n + p.base
		if m == m {
			p.total = p.base + m
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
