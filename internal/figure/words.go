package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"newtop/trainer/event"
)

// describe writes the title and the notes below the panels: how each run did, and what it was.
func (s *report) describe(o *Options) {
	s.title = printable(o.Title)
	if s.title == "" {
		s.title = s.subject()
	}
	for i := range s.runs {
		s.notes = append(s.notes, s.note(i))
	}
	if o.Smooth > 0 {
		s.notes = append(s.notes, "Smoothed with a half-life of "+counted(
			o.Smooth, "epoch")+"; the values themselves are pale.")
	}
	for i := range s.about {
		p := &s.about[i]
		q := p.quantity
		if who := s.missing(p); who != "" && q.alarm {
			s.notes = append(s.notes, "No "+q.Meaning+" of "+who+".")
		}
		if p.cut {
			s.notes = append(s.notes, "The "+q.Meaning+" is cut off at "+short(q.bound[0])+" and "+short(
				q.bound[1])+".")
		}
		if p.zero {
			s.notes = append(
				s.notes, "Where a curve of the "+q.Meaning+" leaves its logarithmic axis at the bottom it is 0.")
		}
	}
	if s.broken {
		s.notes = append(s.notes, "× before a value that is not finite, or where a run diverged.")
	}
	s.notes = fold(s.notes, s.width-2*margin)
}

// fold breaks notes that are wider than their room between words.
func fold(notes []string, room float64) (lines []string) {
	for _, note := range notes {
		line := ""
		for _, word := range strings.Fields(note) {
			switch longer := line + " " + word; {
			case line == "":
				line = word
			case wide(longer, noteSize) <= room:
				line = longer
			default:
				lines, line = append(lines, line), "   "+word
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// missing names the runs that have no curve in a panel.
func (s *report) missing(p *quantityPanel) string {
	var who []string
	for i, label := range s.labels {
		if !slices.ContainsFunc(p.curves, func(c curve) bool { return c.run == i }) {
			who = append(who, label)
		}
	}
	return strings.Join(who, ", ")
}

// subject is what the runs have in common: data and net.
func (s *report) subject() string {
	var data, nets []string
	for _, r := range openingsOf(s.runs) {
		if r != nil {
			data, nets = append(data, printable(r.Data.Name)), append(nets, r.Model.Shape())
		}
	}
	var parts []string
	for _, list := range [][]string{data, nets} {
		slices.Sort(list)
		switch list = slices.Compact(list); len(list) {
		case 0:
		case 1, 2, 3:
			parts = append(parts, strings.Join(list, ", "))
		default:
			parts = append(parts, list[0]+" and "+strconv.Itoa(len(list)-1)+" others")
		}
	}
	if len(s.runs) == 1 {
		parts = append(parts, s.labels[0])
	}
	return strings.Join(parts, " · ")
}

func openingsOf(runs []Run) []*event.RunEvent {
	out := make([]*event.RunEvent, len(runs))
	for i := range runs {
		out[i] = runs[i].Opening
	}
	return out
}

// note says in a line how a run did and what it was.
func (s *report) note(i int) string {
	r := &s.runs[i]
	m := event.MeasureOf(r.Opening, r.Epochs)
	var parts []string
	if o := r.Opening; o != nil && !strings.HasPrefix(s.labels[i], o.Optimizer) {
		parts = append(parts, printable(o.Optimizer))
	}
	if best := m.Best(r.Epochs); best != nil {
		value := strconv.FormatFloat(m.Value(best), 'g', 4, 64)
		if m.Info().Share {
			value = strconv.FormatFloat(100*m.Value(best), 'f', 2, 64) + " %"
		}
		text := "best " + m.Info().Name + " " + value + " after " + counted(float64(best.Epoch), r.Opening.Counted())
		if t := float64(best.Elapsed); t > 0 && finite(t) {
			text += fmt.Sprintf(", %s", duration(t))
		}
		parts = append(parts, text)
	}
	if r.Diverged != nil {
		parts = append(parts, fmt.Sprintf("diverged in %s %d", r.Opening.Counted(), r.Diverged.Epoch))
	}
	if o := r.Opening; o != nil {
		parts = append(parts, o.Seeds())
	}
	who := s.labels[i]
	if id := printable(r.ID); id != "" {
		who += " (run " + id + ")"
	}
	if len(parts) == 0 {
		return who
	}
	return who + ": " + strings.Join(parts, "; ")
}

// counted writes a number of things.
func counted(n float64, what string) string {
	if n != 1 {
		what += "s"
	}
	return short(n) + " " + what
}

// duration writes a time with about three digits.
func duration(seconds float64) string {
	for _, u := range []struct {
		from, each float64
		name       string
	}{{2 * 3600, 3600, "h"}, {2 * 60, 60, "min"}, {1, 1, "s"}, {1e-3, 1e-3, "ms"}, {0, 1e-6, "µs"}} {
		if seconds >= u.from {
			v := seconds / u.each
			return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(max(v, 1))))), 64) + " " + u.name
		}
	}
	return ""
}
