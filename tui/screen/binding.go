package screen

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/style"
	"newtop/tui/widget"
)

// Binding joins keys to what they do on the screen of a model M. Dispatch, footer, help and the search for commands all
// read one table of them.
type Binding[M Model] struct {
	Keys  []string // as Bubble Tea names them
	Show  string   // how the help shows them
	Help  string   // what it says of them
	Group string   // its heading there
	Verbs []Verb   // what its keys mean on all screens, nil for keys of this screen alone
	// Do acts; k is the key that was pressed.
	Do func(m M, k string) tea.Cmd
	// Now says whether the footer should name it, given the state; nil for always.
	Now func(m M) bool
	// Short is what the footer says, which may depend on the state; nil for nothing.
	Short func(m M) string
	// Obstacle says in a clause why it can't be done at present, "" if it can; nil if it always can.
	Obstacle func(m M) string
	// Each says what its keys do one by one, where that differs: pairs of a key and a clause.
	Each [][2]string
	// There says whether the key has this meaning in the present state; nil if it always has.
	There func(m M) bool
}

// Bind returns a binding of keys: under which heading and how the help shows them, and what it says. It is not inlined,
// so that a table of bindings is less code.
//
//go:noinline
func Bind[M Model](group, show, help string, keys ...string) *Binding[M] {
	return &Binding[M]{Keys: keys, Show: show, Help: help, Group: group}
}

// On completes a binding with its action.
func (b *Binding[M]) On(do func(m M, k string) tea.Cmd) *Binding[M] { b.Do = do; return b }

// Then completes it with an action that only changes the model.
func (b *Binding[M]) Then(do func(m M, k string)) *Binding[M] {
	return b.On(func(m M, k string) tea.Cmd { do(m, k); return nil })
}

// Unless completes it with what may be in its way.
func (b *Binding[M]) Unless(reason func(m M) string) *Binding[M] { b.Obstacle = reason; return b }

// By completes it with what its keys do one by one.
func (b *Binding[M]) By(each ...[2]string) *Binding[M] { b.Each = each; return b }

// Only completes it with the state that it belongs to.
func (b *Binding[M]) Only(there func(m M) bool) *Binding[M] { b.There = there; return b }

// Footer puts it into the footer with a word.
//
//go:noinline
func (b *Binding[M]) Footer(s string) *Binding[M] {
	return b.FooterBy(func(M) string { return s })
}

// FooterBy does so with a word that depends on the state.
func (b *Binding[M]) FooterBy(short func(m M) string) *Binding[M] { b.Short = short; return b }

// While keeps it in the footer only while a condition holds.
func (b *Binding[M]) While(now func(m M) bool) *Binding[M] { b.Now = now; return b }

// Absent reports whether the key means something else at present, or nothing.
func (b *Binding[M]) Absent(m M) bool { return b.There != nil && !b.There(m) }

// Reason is why it can't be done at present, "" if it can.
func (b *Binding[M]) Reason(m M) string {
	if b.Obstacle == nil {
		return ""
	}
	return b.Obstacle(m)
}

// Bound returns the binding that a key has at present, nil for none.
func Bound[M Model](bindings []*Binding[M], m M, k string) *Binding[M] {
	for _, b := range bindings {
		if !b.Absent(m) && slices.Contains(b.Keys, k) {
			return b
		}
	}
	return nil
}

// Press does what a key is bound to, or says why that can't be done.
func Press[M Model](bindings []*Binding[M], m M, k string) tea.Cmd {
	if b := Bound(bindings, m, k); b != nil {
		return b.Act(m, k)
	}
	return nil
}

// Act does what a key is for, or says why that can't be done.
func (b *Binding[M]) Act(m M, k string) tea.Cmd {
	if reason := b.Reason(m); reason != "" {
		return m.Screen().Notify(style.Warn, reason)
	}
	return b.Do(m, k)
}

// Hints are what the footer names.
func Hints[M Model](bindings []*Binding[M], m M) (out []widget.Hint) {
	for _, b := range bindings {
		if b.Short == nil || b.Absent(m) || b.Now != nil && !b.Now(m) {
			continue
		}
		k, _, _ := strings.Cut(b.Show, " ←")
		out = append(out, widget.NewHint(k, b.Short(m)))
	}
	return out
}

// LeaveWord is what the footer says of the key that leaves a screen.
func LeaveWord[M Model](m M) string {
	if m.Screen().Over {
		return "back"
	}
	return "quit"
}
