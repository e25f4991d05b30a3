package layout

import "slices"

// CompactMetrics are the strips of a small screen for a run as BandsOfMetrics is for.
var CompactMetrics = []strip{{Loss, 3, true}, {Accuracy, 3, true}, {Spectrum, 1, false}, {Metrics, 4, true},
	{Log, 2, false}}

// BandsOfMetrics arranges the panes for a run that has no network to show: loss and error large, and all else that is
// told beneath them, with factors, the spectrum and images beside it where they are reported.
func BandsOfMetrics(w, h int) []band {
	switch {
	case w >= 110 && h >= 34:
		return []band{{36, []cell{{Loss, 50}, {Accuracy, 50}}},
			{48, []cell{{Metrics, 100}, {Inner, 70}, {Spectrum, 70}, {Images, 70}}}, {16, []cell{{Log, 100}}}}
	case w >= 110:
		return []band{{42, []cell{{Loss, 50}, {Accuracy, 50}}},
			{58, []cell{{Metrics, 68}, {Inner, 45}, {Spectrum, 45}, {Images, 45}, {Log, 32}}}}
	case h >= 32:
		return []band{{32, []cell{{Loss, 50}, {Accuracy, 50}}},
			{46, []cell{{Metrics, 100}, {Inner, 80}, {Spectrum, 80}, {Images, 80}}}, {22, []cell{{Log, 100}}}}
	}
	return []band{{36, []cell{{Loss, 50}, {Accuracy, 50}}},
		{64, []cell{{Metrics, 100}, {Inner, 80}, {Spectrum, 80}, {Images, 80}}}}
}

// DashboardOfMetrics divides a screen like Dashboard for such a run. What is blank has no place, unless it has the
// focus or is the log. printed says that the run prints lines, which stand in the log's place and have one on every
// screen.
func DashboardOfMetrics(w, h, header int, zoomed bool, focus ID, printed bool, blank func(ID) bool) Screen {
	gone := func(id ID) bool { return id != focus && id != Log && blank(id) }
	strips := slices.DeleteFunc(slices.Clone(CompactMetrics), func(s strip) bool { return gone(s.pane) })
	return Divided(w, h, header, zoomed, focus, func(w, h int) (some []band) {
		for _, b := range BandsOfMetrics(w, h) {
			b.cells = slices.DeleteFunc(b.cells, func(c cell) bool { return gone(c.pane) })
			if len(b.cells) > 0 {
				some = append(some, b)
			}
		}
		logged := slices.ContainsFunc(some, func(b band) bool {
			return slices.ContainsFunc(
				b.cells, func(c cell) bool { return c.pane == Log })
		})
		if !logged && (printed || gone(Metrics)) { // which have the log's place on a small screen
			some = append(some, band{24, []cell{{Log, 100}}})
		}
		return some
	}, strips)
}
