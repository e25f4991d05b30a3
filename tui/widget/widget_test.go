package widget

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"newtop/tui/internal/tuitest"
	"newtop/tui/layout"
	"newtop/tui/style"
)

// fruit is a row of the table of the tests.
type fruit struct {
	name   string
	weight int
	note   string
}

var fruits = []fruit{{"apple", 150, "sweet, of the north"}, {"a very long pomegranate", 282, ""}, {"plum 梅", 66, "sour"},
	{"fig", 0, "\x1b[2J dried"}, {"quince", 270, "hard"}}

// newTable is a table of all kinds of columns.
func newTable() *Table[fruit] {
	of := func(text func(f fruit) string) func(fruit, int) style.Part {
		return func(f fruit, _ int) style.Part { return style.Text.Of(text(f)) }
	}
	t := &Table[fruit]{Lead: 3, Mark: func(l *style.Line, f fruit) { l.Write(style.Muted, f.name[:1]) },
		Color: func(_ *Column[fruit], _ fruit, chosen bool, own style.Token) style.Token {
			if chosen {
				return style.Chosen
			}
			return own
		},
		Columns: []Column[fruit]{
			{Key: "name", Title: "name", Max: 16, Left: true, Cell: of(func(f fruit) string { return f.name }),
				Compare: func(a, b fruit) int { return strings.Compare(a.name, b.name) }},
			{Key: "weight", Title: "weight", Width: 8, Rank: 1, Cell: of(func(f fruit) string { return fmt.Sprint(f.weight) }),
				Compare: func(a, b fruit) int { return a.weight - b.weight },
				Missing: func(f fruit) bool { return f.weight == 0 }},
			{Key: "bar", Title: "bar", Width: 4, Grow: 6, Rank: 2, Left: true, Cell: func(f fruit, w int) style.Part {
				return style.Accent.Of(style.Repeat("━", f.weight*w/300))
			}},
			{Key: "off", Title: "off", Off: true, Cell: of(func(fruit) string { return "never" })},
			{Key: "note", Title: "note", Width: 6, Rest: true, Left: true, Cell: of(func(f fruit) string { return f.note })},
		}}
	t.Measure(fruits)
	return t
}

// widgets draw each widget in so many columns.
var widgets = map[string]func(p *style.Pen, w int) []string{
	"table": func(p *style.Pen, w int) []string {
		t := newTable()
		t.SortBy("weight")
		return t.Draw(p, layout.Rect{W: w, H: 4}, fruits, 3)
	},
	"empty": func(p *style.Pen, w int) []string {
		return newTable().Draw(p, layout.Rect{W: w, H: 4}, nil, -1)
	},
	"dialog": func(p *style.Pen, w int) []string {
		var s Scroll
		rows, more := s.Cut([]string{"one", "two 梅", "three"}, 2)
		return DialogBox(p, "a title"+more, rows, w)
	},
	"help": func(p *style.Pen, w int) []string {
		return Sections(p, []Section{{"keys", [][]style.Part{Explain(style.Accent, "↑↓", 6, "move")}}, {"words", nil}}, w)
	},
	"filter": func(p *style.Pen, w int) []string {
		f := Filter{Text: "adam -failed 梅 and a lot more", Typing: true}
		return []string{f.Line(p, w, "3 of 9")}
	},
	"form": func(p *style.Pen, w int) []string {
		f := newForm()
		f.Handle(tea.PasteMsg{Content: "-1"})
		return f.Rows(p, w)
	},
	"field": func(p *style.Pen, w int) []string {
		f := Form{Fields: []Field{NewField("name", "a line about the run", 20, "a 梅 b")}}
		return f.Rows(p, w)
	},
	"cut": func(p *style.Pen, w int) []string {
		return CutRows(p, []string{style.Fit("a", w), style.Fit("b", w), style.Fit("c", w)}, 2)
	},
}

// newForm is a form with a number, of which the negative ones are refused, and a choice.
func newForm() *Form {
	rate := NewField("rate", "how fast", 10, "0.1")
	rate.Check = func(text string) string {
		if strings.HasPrefix(text, "-") {
			return "expected a positive number"
		}
		return ""
	}
	method := NewField("method", "how", 10, "adam")
	method.Choices = []string{"adam", "sgd", "scg"}
	return &Form{Fields: []Field{rate, method}}
}

// TestMatrix draws every widget in every theme, glyph set and width: rows are as wide as they have to be, and themes
// change no text.
func TestMatrix(t *testing.T) {
	for name, draw := range widgets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			add := tuitest.Archive(t)
			for g := style.GlyphsBraille; g < style.GlyphsCount; g++ {
				for _, w := range []int{6, 9, 17, 30, 44, 80, 120} {
					want := ""
					for theme := style.ThemeAuto; theme < style.ThemeCount; theme++ {
						p := style.Pen{Palette: theme.Palette(true, colorprofile.TrueColor, false), Glyphs: g.Set(nil)}
						rows := draw(&p, w)
						for _, row := range rows {
							if n := ansi.StringWidth(row); n != w {
								t.Fatalf("%v, %v: a row of %d is %d wide: %q", g, theme, w, n, row)
							}
						}
						text := ansi.Strip(strings.Join(rows, "\n"))
						if want == "" {
							want = text
						}
						if text != want {
							t.Fatalf("%v, %v, %d says\n%s\nnot\n%s", g, theme, w, text, want)
						}
					}
					if g == style.GlyphsBraille && (w == 17 || w == 44 || w == 80) {
						add(fmt.Sprint(w), want+"\n")
					}
				}
			}
		})
	}
}

// TestScrolling: whatever is chosen is in sight, and nothing scrolls further than it must.
func TestScrolling(t *testing.T) {
	t.Parallel()
	for n := range 9 {
		for room := range 6 {
			var l List
			for _, k := range []string{"down", "pgdown", "end", "k", "up", "pgup", "home", "x", "G", "j", "end", "home"} {
				at := max(0, l.Top)
				before := l
				to := l.Move(k, at, n)
				if n == 0 && to != -1 || n > 0 && (to < 0 || to >= n) {
					t.Fatalf("%s of %d leads to %d", k, n, to)
				}
				if l.Show(max(0, to), n, room); l.Rows > 0 && (to < l.Top || to >= l.Top+l.Rows) || l.Top+l.Rows > n {
					t.Errorf("%s: row %d of %d, %d to %d of %d in sight", k, to, n, l.Top, l.Top+l.Rows, room)
				}
				if to >= before.Top && to < before.Top+before.Rows && l.Top != before.Top {
					t.Errorf("%s scrolls from %d to %d for row %d", k, before.Top, l.Top, to)
				}
			}
		}
	}
}

func TestTableMouseAndSort(t *testing.T) {
	t.Parallel()
	p := style.Pen{Palette: style.ThemeMono.Palette(true, colorprofile.ASCII, true), Glyphs: style.GlyphsASCII.Set(nil)}
	table := newTable()
	order := func() (names []string) {
		rows := slices.Clone(fruits)
		slices.SortStableFunc(rows, table.Order)
		for _, f := range rows {
			names = append(names, f.name[:2])
		}
		table.Draw(&p, layout.Rect{X: 5, Y: 2, W: 60, H: 4}, rows, 4)
		return names
	}
	for _, c := range []struct {
		do   func()
		want string
	}{
		{func() {}, "ap a  pl fi qu"}, {table.SortNext, "a  ap fi pl qu"}, {table.SortNext, "pl ap qu a  fi"},
		{func() { table.SortBy("weight") }, "a  qu ap pl fi"}, {table.SortNext, "ap a  pl fi qu"},
	} {
		if c.do(); strings.Join(order(), " ") != c.want {
			t.Errorf("by %q, reversed %v: %q, not %q", table.Sorted, table.Reversed, order(), c.want)
		}
	}
	if row, ok := table.Row(9, 4); !ok || row != table.Top+1 {
		t.Errorf("row %d, %v", row, ok)
	}
	if _, ok := table.Row(9, 2); ok || table.TitleAt(9, 2) != "name" || table.TitleAt(9, 3) != "" {
		t.Errorf("the title is a row, or not the name's: %q", table.TitleAt(9, 2))
	}
}

// TestForm: what a field refuses is not submitted, and the first character replaces a value.
func TestForm(t *testing.T) {
	t.Parallel()
	f := newForm()
	press := func(keys ...rune) (last FormAnswer) {
		for _, k := range keys {
			m := tea.KeyPressMsg{Code: k}
			if k > ' ' && k < 127 {
				m.Text = string(k)
			}
			last = f.Handle(m)
		}
		return last
	}
	if press('-', '5', tea.KeyEnter) != Editing || f.Fields[0].Value() != "-5" || f.Fields[0].Invalid == "" {
		t.Errorf("%q was taken: %q", f.Fields[0].Value(), f.Fields[0].Invalid)
	}
	press(tea.KeyTab, tea.KeyRight, tea.KeyRight, tea.KeyRight, tea.KeyLeft)
	if f.Fields[1].Value() != "scg" || press(tea.KeyEnter) != Editing || f.At != 0 {
		t.Errorf("%q, and field %d has the keys", f.Fields[1].Value(), f.At)
	}
	f.Fields[0].Set("3")
	if press(tea.KeyEnter) != Submitted || press(tea.KeyEscape) != Cancelled {
		t.Error("it is neither submitted nor left")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	names := []string{"next theme", "theme of the house", "another", "the end"}
	for typed, want := range map[string]string{"": "[0 1 2 3]", "theme": "[1 0]", "END": "[3]", "ntr": "[2]", "of the": "[1]"} {
		if got := fmt.Sprint(Find(typed, names, names)); got != want {
			t.Errorf("%q finds %s, not %s", typed, got, want)
		}
	}
	for filter, want := range map[string]bool{"": true, "adam": true, "-adam": false, "adam -failed": true, "adam failed": false, "-": true} {
		if Matches("adam run", strings.Fields(filter)) != want {
			t.Errorf("%q matches: %v", filter, !want)
		}
	}
}

// A name that is cut keeps what tells it apart from others.
func TestCut(t *testing.T) {
	metrics := []string{"optim/transformer/layers/0/attention/grad_norm", "optim/transformer/layers/1/attention/grad_norm", "optim/layers/1/attention/scale", "loss"}
	files := []string{"lr0.1-seed5/metrics.csv", "lr0.01-seed5/metrics.csv", "b_layer_1_weight_mean", "b_layer_2_weight_mean"}
	for _, c := range []struct {
		name, want string
		w          int
		all        []string
	}{
		{metrics[0], metrics[0], 46, metrics}, {metrics[0], "…0/attention/grad_norm", 22, metrics}, {metrics[1], "…1…on/grad_norm", 15, metrics},
		{metrics[2], "…tention/scale", 14, metrics}, {metrics[0], "…", 1, metrics}, {metrics[0], "…grad_norm", 10, nil},
		{files[0], "lr0.1-seed5…", 12, files}, {files[1], "lr0.01-seed5…s.csv", 18, files}, {files[2], "…_1_weight_mean", 15, files}, {files[3], "…2…t_mean", 9, files},
	} {
		if got := Cut(c.name, c.w, c.all); got != c.want {
			t.Errorf("%s in %d: %q, not %q", c.name, c.w, got, c.want)
		}
	}
}
