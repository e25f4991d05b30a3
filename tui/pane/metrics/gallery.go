package metrics

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/event"
	"newtop/tui/chart"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// Order is how the charts are sorted.
type Order uint8

// The orders, as the key goes round them.
const (
	Written  Order = iota // as the program wrote them first
	Named                 // by name
	Changing              // what changed most over the latest tenth comes first, as it was when the user asked
	orders
)

func (o Order) String() string { return [...]string{"as written", "by name", "by change"}[o] }

// Grouping is whether the charts stand under headings.
type Grouping uint8

// The groupings, as the key goes round them.
const (
	Ungrouped Grouping = iota
	Grouped
	Folded // headings alone
	groupings
)

// item is what can be selected: a chart, or the heading of a group of them.
type item struct {
	metric  int // of the catalog; -1: a heading
	heading string
	count   int  // charts under the heading
	folded  bool // and they are not shown
	flat    bool // it is a line and no chart
	system  bool // it is of the machine, which has pages of its own behind the user's
}

// gallery is which charts there are, in which order and on which pages, and which of them is selected.
type gallery struct {
	// Without leaves metrics of these names out; nil leaves out none.
	Without func(name string) bool

	runs     []Run
	outlines []outline
	catalog  *catalog
	items    []item
	at       int    // the selected item
	chosen   string // the name of the one that the user chose, which may not be there now
	filter   widget.Filter
	invalid  string // why the filter can't be read
	pattern  *regexp.Regexp
	order    Order
	grouping Grouping
	pinned   []string        // in the order in which they were
	folded   map[string]bool // of groups, other than the grouping says
	scales   map[string]bool // of the charts whose scale the user chose: logarithmic
	whole    bool            // the selected chart has all the room
	pages    []page
	page     int    // that was drawn
	changes  uint64 // counts what the user did, to draw again
}

// Typing reports whether keys go into the filter.
func (g *gallery) Typing() bool { return g.filter.Typing }

// Enlarged reports whether one chart has all the room.
func (g *gallery) Enlarged() bool { return g.whole }

// Selected is the name of the selected metric, "" for none.
func (g *gallery) Selected() string {
	if m := g.selected(); m != nil {
		return m.name
	}
	return ""
}

func (g *gallery) selected() *metric {
	if g.at >= len(g.items) || g.items[g.at].metric < 0 {
		return nil
	}
	return &g.catalog.all[g.items[g.at].metric]
}

// Names lists the metrics.
func (g *gallery) Names() []string {
	if g.catalog == nil {
		return nil
	}
	return g.catalog.names
}

// Select selects the chart of a name, whatever hides it.
func (g *gallery) Select(name string) {
	if g.pattern != nil && !g.pattern.MatchString(name) {
		g.filter, g.pattern, g.invalid = widget.Filter{}, nil, ""
	}
	if g.catalog == nil {
		return
	}
	if at, ok := g.catalog.at[name]; ok && g.isFolded(g.catalog.all[at].group) {
		g.fold(g.catalog.all[at].group)
	}
	g.chosen = name
	g.arrange()
}

// arrange makes the items: of all metrics those that match, the pinned ones first, in order, under their headings.
func (g *gallery) arrange() {
	g.changes++
	g.pages = g.pages[:0]
	if g.catalog == nil {
		return
	}
	var shown []int
	for i := range g.catalog.all {
		m := &g.catalog.all[i]
		if (g.pattern == nil || g.pattern.MatchString(m.name)) && (g.Without == nil || !g.Without(m.name)) {
			shown = append(shown, i)
		}
	}
	for i := range g.catalog.all {
		m := &g.catalog.all[i]
		m.flat = !slices.Contains(g.pinned, m.name) && !m.moves(g.runs)
	}
	g.sort(shown)
	g.items = g.items[:0]
	if g.grouping == Ungrouped {
		for _, i := range shown {
			m := &g.catalog.all[i]
			g.items = append(g.items, item{metric: i, flat: m.flat,
				system: m.curves[0].kind == machine && !slices.Contains(g.pinned, m.name)})
		}
	} else {
		g.group(shown)
	}
	g.at = max(0, slices.IndexFunc(g.items, func(it item) bool { return g.nameOf(&it) == g.chosen }))
	g.whole = g.whole && g.selected() != nil
}

// nameOf tells an item from all others.
func (g *gallery) nameOf(it *item) string {
	if it.metric < 0 {
		return "\x00" + it.heading
	}
	return g.catalog.all[it.metric].name
}

// sort puts pinned metrics first, what is no chart last, and the others in order; as written, what the model is judged
// by comes before what it is trained by.
func (g *gallery) sort(shown []int) {
	all := g.catalog.all
	var change []float64
	if g.order == Changing {
		change = make([]float64, len(all))
		for _, i := range shown {
			for k := range all[i].curves {
				change[i] = max(change[i], all[i].curves[k].series(g.runs).Change())
			}
		}
	}
	rank := func(i int) int {
		at := slices.Index(g.pinned, all[i].name)
		switch {
		case at >= 0:
			return at
		case all[i].curves[0].kind == machine && all[i].flat:
			return len(g.pinned) + 5
		case all[i].curves[0].kind == machine:
			return len(g.pinned) + 4
		case all[i].flat:
			return len(g.pinned) + 3
		case g.order == Written && all[i].group == "curvature": // newtop.probe's, behind the user's own
			return len(g.pinned) + 2
		case g.order == Written && !all[i].main():
			return len(g.pinned) + 1
		}
		return len(g.pinned)
	}
	slices.SortStableFunc(shown, func(a, b int) int {
		by := cmp.Compare(rank(a), rank(b))
		switch {
		case by != 0:
		case g.order == Named:
			by = natural(all[a].name, all[b].name)
		case g.order == Changing:
			by = cmp.Compare(change[b], change[a])
		}
		return by
	})
}

// natural compares names so that layer 9 stands before layer 10.
func natural(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	digits := func(s string) int {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n
	}
	for a != "" && b != "" {
		n, m := digits(a), digits(b)
		if n > 0 && m > 0 {
			x, y := strings.TrimLeft(a[:n], "0"), strings.TrimLeft(b[:m], "0")
			if by := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); by != 0 {
				return by
			}
			a, b = a[n:], b[m:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

const (
	pinnedHeading = "pinned"
	otherHeading  = "without a prefix"
)

// group puts metrics under the headings of their prefixes, which stand in the order of their first metrics.
func (g *gallery) group(shown []int) {
	var order []string
	members := map[string][]int{}
	for _, i := range shown {
		name := cmp.Or(g.catalog.all[i].group, otherHeading)
		if slices.Contains(g.pinned, g.catalog.all[i].name) {
			name = pinnedHeading
		}
		if members[name] == nil {
			order = append(order, name)
		}
		members[name] = append(members[name], i)
	}
	for _, name := range order {
		folded := g.isFolded(name)
		g.items = append(g.items, item{metric: -1, heading: name, count: len(members[name]), folded: folded})
		for _, i := range members[name] {
			if !folded {
				g.items = append(g.items, item{metric: i, heading: name, flat: g.catalog.all[i].flat})
			}
		}
	}
}

func (g *gallery) isFolded(group string) bool {
	return g.grouping != Ungrouped && (g.grouping == Folded) != g.folded[cmp.Or(group, otherHeading)]
}

// fold folds a group, or unfolds it.
func (g *gallery) fold(group string) {
	if g.folded == nil {
		g.folded = map[string]bool{}
	}
	group = cmp.Or(group, otherHeading)
	g.folded[group] = !g.folded[group]
	g.arrange()
}

// choose selects the item nearest to a place.
func (g *gallery) choose(at int) {
	if len(g.items) == 0 {
		return
	}
	g.at = max(0, min(at, len(g.items)-1))
	g.chosen = g.nameOf(&g.items[g.at])
	g.whole = g.whole && g.selected() != nil
}

// narrow reads the filter. One that can't be read leaves the charts as they are.
func (g *gallery) narrow() {
	var pattern *regexp.Regexp
	_, err := regexp.Compile(g.filter.Text)
	if err == nil && g.filter.Text != "" {
		pattern, err = regexp.Compile("(?i)" + g.filter.Text)
	}
	if err != nil {
		_, reason, _ := strings.Cut(err.Error(), "parsing regexp: ")
		g.invalid = style.Clean(reason)
		g.changes++
		return
	}
	g.invalid, g.pattern = "", pattern
	g.arrange()
}

// count says how many charts there are, and how many of them are shown.
func (g *gallery) count() string {
	shown := 0
	for i := range g.items {
		if it := &g.items[i]; it.metric >= 0 {
			shown++
		} else if it.folded {
			shown += it.count
		}
	}
	if all := len(g.catalog.all); shown < all {
		return format.Count(shown) + " of " + format.Counted(all, "metric")
	}
	return format.Counted(shown, "metric")
}

// Better says which values of a metric are better, as far as its name does.
func (g *gallery) Better(name string) event.Direction {
	if i := slices.Index(g.Names(), name); i >= 0 {
		return g.catalog.all[i].better
	}
	return event.Undirected
}

// Share reports whether the selected metric is one of errors or accuracies.
func Share(g *Grid) bool {
	m := g.selected()
	return m != nil && m.share
}

// next goes to another chart, past headings.
func (g *gallery) next(by int) {
	for i := g.at + by; i >= 0 && i < len(g.items); i += by {
		if g.items[i].metric >= 0 {
			g.choose(i)
			return
		}
	}
}

// enter gives the selected chart all the room, or folds the group of a heading.
func (g *gallery) enter(string) {
	switch {
	case len(g.items) == 0:
	case g.items[g.at].metric >= 0:
		g.whole = true
	default:
		g.fold(g.items[g.at].heading)
	}
}

// pin puts the selected metric before the others, or back among them.
func (g *gallery) pin() {
	m := g.selected()
	if m == nil {
		return
	}
	if i := slices.Index(g.pinned, m.name); i >= 0 {
		g.pinned = slices.Delete(g.pinned, i, i+1)
	} else {
		g.pinned = append(g.pinned, m.name)
	}
	g.arrange()
}

// rescale changes the scale of the selected chart, or gives all charts the other one than it has.
func (g *gallery) rescale(all bool) {
	m := g.selected()
	if m == nil {
		return
	}
	if g.scales == nil {
		g.scales = map[string]bool{}
	}
	log := !g.log(m)
	g.scales[m.name] = log
	for i := range g.catalog.all {
		if all {
			g.scales[g.catalog.all[i].name] = log
		}
	}
	g.changes++
}

// ToggleLog switches the selected chart between a linear and a logarithmic axis.
func (g *gallery) ToggleLog() bool {
	g.rescale(false)
	return true
}

// nothing says why there is no chart.
func (g *gallery) nothing() string {
	switch {
	case len(g.runs) == 0:
		return "no run is shown"
	case len(g.catalog.all) == 0:
		return "waiting for the first metric"
	case g.pattern != nil:
		return "no metric matches"
	}
	return "no other metrics"
}

// version reports what the curves of a metric are now.
func (g *gallery) version(m *metric) (one chart.Version, many uint64) {
	if len(m.curves) == 1 {
		return m.curves[0].series(g.runs).Version(), 0
	}
	for i := range m.curves {
		s := m.curves[i].series(g.runs).Version()
		many = many*1099511628211 + s.Hash()
	}
	return one, many
}

// counted is what the runs count, "epoch" unless all of them count something else.
func (g *gallery) counted() string {
	if len(g.runs) == 0 {
		return ""
	}
	counts := g.runs[0].H.Run.Counted()
	for i := range g.runs {
		if g.runs[i].H.Run.Counted() != counts {
			return ""
		}
	}
	return counts
}

// drawn are the curves of a metric in the order in which they are drawn.
func (g *gallery) drawn(m *metric) []*curve {
	out := make([]*curve, len(m.curves))
	for i := range out {
		out[i] = &m.curves[i]
	}
	if len(g.runs) > 1 {
		slices.SortStableFunc(out, func(a, b *curve) int { return g.runs[a.run].rank() - g.runs[b.run].rank() })
	}
	return out
}

// log reports whether a metric is drawn on a logarithmic axis, which is for values above zero.
func (g *gallery) log(m *metric) bool {
	log, chosen := g.scales[m.name]
	if !chosen {
		log = m.log
	}
	if !log {
		return false
	}
	curves := make([]chart.Curve, len(m.curves))
	for i := range curves {
		curves[i].Series = m.curves[i].series(g.runs)
	}
	return chart.FitsLog(curves, chosen)
}

// best is the best value of a metric's last curve so far; empty where its name doesn't say which are better.
func (g *gallery) best(m *metric) string {
	s := m.curves[len(m.curves)-1].series(g.runs)
	low, high, ok := m.bounds(s)
	switch {
	case !ok || m.better == event.Undirected:
		return ""
	case m.better == event.MoreBetter:
		return "  max " + m.text(g.runs, high)
	}
	return "  min " + m.text(g.runs, low)
}
