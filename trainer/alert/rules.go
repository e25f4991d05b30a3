package alert

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Rules are what calls are wanted for.
type Rules struct {
	Kinds      []Kind
	Quiet      time.Duration // without news, after which the run is quiet; 0: what its pace says
	Conditions []string      // as ParseUntil reads them
}

// All returns the rules that need no numbers: all kinds, and no condition.
func All() Rules { return Rules{Kinds: []Kind{NaN, Divergence, Plateau, Overfitting, End, Quiet}} }

// ParseRules reads names of kinds with commas between them, quiet=5m, and conditions, as val_loss<0.1 and epoch>5. Of
// an empty text all kinds are meant.
func ParseRules(text string) (r Rules, err error) {
	if strings.TrimSpace(text) == "" {
		return All(), nil
	}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		name, span, timed := strings.Cut(strings.ToLower(item), "=")
		i := slices.Index(kindNames[:Condition], name)
		switch {
		case timed && name == kindNames[Quiet]:
			if r.Quiet, err = time.ParseDuration(span); err != nil || r.Quiet <= 0 {
				return r, fmt.Errorf("%q: expected a time, as quiet=5m", item)
			}
		case timed || i < 0:
			if _, err := ParseUntil(item); err != nil {
				return r, fmt.Errorf("%q: expected some of %s, quiet=5m, or a condition, as val_loss<0.1", item,
					strings.Join(kindNames[:Condition], ", "))
			}
			r.Conditions = append(r.Conditions, item)
			continue
		}
		r.Kinds = append(r.Kinds, Kind(i))
	}
	return r, nil
}

// awaited is a condition, and whether it is met now.
type awaited struct {
	until *Until
	met   bool
}

// pace is how often a run that is under way tells values, by the clock of who watches it.
type pace struct {
	said        time.Duration // after which it is quiet; 0: that follows from the others
	first, last time.Time     // of the news; last: or since when there were none
	spans       int           // between them
	longest     time.Duration
	heard, over bool
}

const (
	// leastQuiet and quietSpans are after how long a run is quiet at least, and after how many of its usual spans.
	leastQuiet = time.Minute
	quietSpans = 10
	// fewSpans is how many have to be known.
	fewSpans = 3
)

// limit is how long the run may tell nothing, 0 if that is unknown. A span as the longest so far, for evaluations or
// checkpoints, is none to call for.
func (p *pace) limit() time.Duration {
	if p.said > 0 || p.spans < fewSpans {
		return p.said
	}
	usual := p.last.Sub(p.first) / time.Duration(p.spans)
	return max(quietSpans*usual, 2*p.longest, leastQuiet)
}

// Heard says that the newest event told values, at a time.
func (w *Watch) Heard(now time.Time) {
	p := &w.pace
	if p.heard {
		p.spans++
		p.longest = max(p.longest, now.Sub(p.last))
	} else {
		p.first = now
	}
	p.heard, p.last = true, now
}

// Ask returns the alert that the run is quiet, once it is.
func (w *Watch) Ask(now time.Time) []Alert {
	w.found = nil
	p := &w.pace
	if p.last.IsZero() {
		p.last = now
	}
	if limit := p.limit(); limit > 0 && !p.over && now.Sub(p.last) >= limit {
		w.fire(Quiet, fmt.Sprintf("no news for %v, since %s %d", now.Sub(p.last).Round(time.Second), w.counted,
			w.epoch))
	}
	return w.found
}
