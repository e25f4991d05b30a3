package tuning

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	"newtop/tui/screen"
	"newtop/tui/style"
	"newtop/tui/widget"
)

// quitDialog asks whether to stop the search.
type quitDialog struct{}

// Handle stops the search with q or y; every other key lets it continue.
func (*quitDialog) Handle(m *model, msg tea.Msg) (screen.Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	switch {
	case !ok:
		return screen.Stay, nil
	case k.String() == "q" || k.String() == "y":
		return screen.Close, m.leave()
	}
	return screen.Close, nil
}

// Hints implements Dialog.
func (*quitDialog) Hints(*model) []widget.Hint {
	return []widget.Hint{widget.NewHint("q", "stop and quit"), widget.NewHint("esc", "go on")}
}

// Draw implements Dialog.
func (*quitDialog) Draw(m *model, w, _ int) []string {
	bw := min(w-2, 62)
	row := func(t style.Token, s string) string { return m.Line(bw-4).Write(t, s).Full() }
	rows := []string{
		row(style.Strong, "Its trials are kept."),
		row(style.Text, "newtop tune --resume "+style.Clean(m.leaderboard.Name)+" goes on with it."),
		style.Spaces(bw - 4),
		m.Line(bw-4).Write(style.Accent, "q").Write(style.Text, " stops it   ").Write(style.Accent, "esc").Write(
			style.Text, " lets it go on").Full(),
	}
	return widget.DialogBox(&m.Pen, "stop the search?", rows, bw)
}

// helpSections are the keys with what they do, and what the signs mean.
func helpSections(m *model) []widget.Section {
	const columns = 8
	keys, states := screen.HelpOf(m.bindings, columns, ""), widget.Section{Title: "what became of a trial"}
	keys[0].Title = "keys"
	for _, s := range trialStates {
		states.Rows = append(states.Rows, widget.Explain(s.ink, s.sign+s.letter, columns, s.word+": "+s.means))
	}
	return append(keys, states, widget.Explained("in the panes", columns,
		[2]string{"a b c", leadText(m)},
		[2]string{"A B C", "the same, run again alone on the whole machine"},
		[2]string{"work", "in gradient equivalents: units of one full gradient"},
		[2]string{"curve", "of the measure, on a logarithmic scale for all"},
		[2]string{"━╌─", "share explained; dashed: within its standard error"}))
}

// leadText says what the trials' letters stand for.
func leadText(m *model) string {
	if m.lead < 0 {
		return "trials"
	}
	var all []string
	for i, s := range m.dims[m.lead].names {
		all = append(all, strings.ToLower(style.RacerLetter(i))+" "+style.Clean(s))
	}
	return strings.Join(all, ", ")
}

// trialDialog is all that is known of the selected trial.
type trialDialog struct{ widget.Scroll }

// Handle goes to another trial, and scrolls.
func (o *trialDialog) Handle(m *model, msg tea.Msg) (screen.Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return screen.Stay, nil
	}
	switch k := k.String(); {
	case k == "esc", k == "d", k == "q", k == "enter":
		return screen.Close, nil
	case k == "up", k == "down", k == "k", k == "j":
		moveTo(m, k)
	case !o.Scroll.HandleKey(k, max(1, m.Height-5)):
		return screen.Pass, nil
	}
	return screen.Stay, nil
}

// Hints implements Dialog.
func (o *trialDialog) Hints(*model) []widget.Hint {
	return []widget.Hint{widget.NewHint("esc", "close"), widget.NewHint("↑↓", "another trial")}
}

// Draw implements Dialog.
func (o *trialDialog) Draw(m *model, w, h int) []string {
	bw := min(w-2, 76)
	rows, more := o.Cut(details(m, bw-4), max(1, h-2))
	title := "no trial"
	if t := selected(m); t != nil {
		title = "trial #" + format.Count(t.Number)
	}
	return widget.DialogBox(&m.Pen, title+" · esc closes"+strings.Replace(more, "↑↓", "pgdown", 1), rows, bw)
}

// details are the rows about the selected trial.
func details(m *model, w int) (rows []string) {
	t := selected(m)
	if t == nil {
		return []string{m.Line(w).Write(style.Muted, emptyText(m)).Full()}
	}
	columns := 2 + max(13, style.Cells(m.measure()))
	for _, c := range t.Choices {
		columns = max(columns, min(2+style.Cells(style.Clean(c.Key)), w/3))
	}
	put := func(color style.Token, name, s string) {
		for _, piece := range style.Wrapped(style.Clean(s), w-columns) {
			rows = append(rows, m.Line(w).Write(style.Muted, ansi.Truncate(style.Clean(name), columns-2, "…")).To(
				columns).Write(color, piece).Full())
			name = ""
		}
	}
	tag, state := m.tag(t), stateOf(t, true)
	rows = append(rows, m.Line(w).Write(tag.Token, tag.Text).Write(
		style.Strong, " #"+format.Count(t.Number)+"  ").Write(
		state.Token, state.Text).Full())
	if t.Error != "" {
		put(style.Text, "reason", t.Error)
	}
	if rank := m.rank[m.rows[m.row(&m.standing)]]; rank > 0 {
		put(style.Text, "rank", format.Count(rank)+" of "+format.Count(len(m.leaderboard.Order)))
	}
	for _, c := range t.Choices {
		put(style.Strong, c.Key, c.Value)
	}
	put(style.Text, "seed", strconv.FormatUint(t.Seed, 10))
	best := m.text(float64(t.Best))
	if t.BestEpoch > 0 {
		best += " at " + m.counts() + " " + format.Count(t.BestEpoch)
	}
	put(style.Strong, m.measure(), best+", now "+m.text(float64(t.Last)))
	put(style.Text, "training loss", format.Number(float64(t.Loss)))
	if m.leaderboard.Target > 0 {
		s := "not reached"
		if v := float64(t.TargetSeconds); format.Finite(v) {
			s = format.Span(v) + ", " + format.Work(float64(t.TargetEquivalents)) + " equivalents"
		}
		put(style.Strong, "to "+m.targetText(), s)
	}
	training := format.Counted(t.Epochs, m.counts()) + ", " + format.Elapsed(t.Seconds)
	if m.leaderboard.Program == nil {
		training += ", " + format.Work(t.Equivalents) + " equivalents"
	}
	put(style.Text, "training", training)
	if t.Rung > 0 {
		put(style.Text, "promoted", format.Counted(t.Rung, "time"))
	}
	if t.Setting > 0 && t.Setting != t.Number {
		put(style.Text, "setting", "that of #"+format.Count(t.Setting))
	}
	if t.Run != "" {
		put(style.Text, "run", t.Run)
		put(style.Muted, "", "newtop runs show "+t.Run)
	}
	return rows
}

// commandDialog is the command line that trains as the best trial did.
type commandDialog struct{ widget.Scroll }

// Handle copies the command line, and scrolls.
func (o *commandDialog) Handle(m *model, msg tea.Msg) (screen.Answer, tea.Cmd) {
	k, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return screen.Stay, nil
	}
	switch k := k.String(); {
	case k == "esc", k == "q":
		return screen.Close, nil
	case k == "c", k == "enter":
		return screen.Stay, o.copy(m)
	case !o.Scroll.HandleKey(k, max(1, m.Height-5)):
		return screen.Pass, nil
	}
	return screen.Stay, nil
}

// Hints implements Dialog.
func (o *commandDialog) Hints(*model) []widget.Hint {
	return []widget.Hint{widget.NewHint("c", "copy"), widget.NewHint("esc", "close")}
}

// copy asks the terminal to take the command line into its clipboard.
func (o *commandDialog) copy(m *model) tea.Cmd {
	if m.leaderboard.Command == "" {
		return m.Notify(style.Warn, "nothing was found yet")
	}
	return tea.Batch(tea.SetClipboard(m.leaderboard.Command), m.Notify(style.Text, "sent to the terminal's clipboard"))
}

// Draw implements Dialog.
func (o *commandDialog) Draw(m *model, w, h int) []string {
	bw := min(w-2, 100)
	var rows []string
	if m.leaderboard.Command == "" {
		rows = append(rows, m.Line(bw-4).Write(style.Muted, "nothing was found yet").Full())
	}
	for _, s := range shellRows(style.Clean(m.leaderboard.Command), bw-4) {
		rows = append(rows, m.Line(bw-4).Write(style.Strong, s).Full())
	}
	rows, more := o.Cut(rows, max(1, h-2))
	title := "what trains like the best"
	if m.best >= 0 {
		title += ", #" + format.Count(m.leaderboard.Trials[m.best].Number)
	}
	return widget.DialogBox(&m.Pen, title+" · c copies · esc closes"+more, rows, bw)
}

// shellRows breaks a command line between its words, so that the rows are one command to a shell again.
func shellRows(s string, w int) (rows []string) {
	row := ""
	words := shellWords(s)
	for len(words) > 0 {
		word := words[0]
		if words = words[1:]; strings.HasPrefix(word, "-") && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
			word += " " + words[0]
			words = words[1:]
		}
		switch {
		case row == "":
			row = word
		case style.Cells(row)+1+style.Cells(word)+2 > w:
			rows = append(rows, row+" \\")
			row = "  " + word
		default:
			row += " " + word
		}
	}
	if row != "" {
		rows = append(rows, row)
	}
	return rows
}

// shellWords cuts a command line at the spaces outside of quotes.
func shellWords(s string) (words []string) {
	from, quote := 0, rune(0)
	for i, r := range s {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == ' ':
			if i > from {
				words = append(words, s[from:i])
			}
			from = i + 1
		}
	}
	if from < len(s) {
		words = append(words, s[from:])
	}
	return words
}
