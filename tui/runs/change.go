package runs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"newtop/internal/format"
	"newtop/trainer/store"
	"newtop/trainer/store/search"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// undoable is how long a run that was removed can be had back. Nothing is deleted before, unless the list is left.
const undoable = 10 * time.Second

// removal is a run or a search that is out of sight, and is deleted soon.
type removal struct {
	number int
	key    string
	label  string
	names  []string // of searches; nil for a run
}

// undo is what can be had back, the latest last.
type undo struct {
	pending []removal
	deleted []removal // that the store is deleting
	number  int
}

// expiredMsg ends the time in which a removal can be undone, removedMsg says what came of it.
type (
	expiredMsg int
	removedMsg struct {
		number int
		err    error
	}
)

// removing reports whether a row is out of sight.
func (u *undo) removing(key string) bool {
	is := func(r removal) bool { return r.key == key }
	return slices.ContainsFunc(u.pending, is) || slices.ContainsFunc(u.deleted, is)
}

// hidden is how many runs of the list are out of sight.
func (l *list) hidden() (n int) {
	for i := range l.runs {
		if l.removing(l.runs[i].ID) {
			n++
		}
	}
	return n
}

// remove takes the selected row out of sight.
func remove(m *Model, _ string) tea.Cmd {
	r := m.selected()
	m.undo.number++
	x := removal{number: m.undo.number, key: r.key, label: r.label()}
	if r.sweep != nil {
		for i := range r.sweep.Parts {
			x.names = append(x.names, r.sweep.Parts[i].ID)
		}
	}
	m.pending = append(m.pending, x)
	delete(m.marked, r.key)
	m.arrange()
	text := "removed " + x.label + ": u undoes"
	if n := len(x.names); n > 0 {
		text = "removed " + x.label + " with its " + format.Counted(r.all.Trials, "trial") + ": u undoes"
	}
	m.Note(style.Text, text)
	return screen.After(m.Ctx, undoable, expiredMsg(x.number))
}

// unremovable is why the selected row can't be removed.
func unremovable(m *Model) string {
	switch r := m.selected(); {
	case r == nil:
		return noRun
	case r.run != nil && r.run.State == store.Running:
		return r.label() + " is being trained: it can be removed once that has ended"
	case r.sweep != nil && underway(r.sweep):
		return r.label() + " is under way: it can be removed once that has ended"
	}
	return ""
}

// restore has the latest removal undone.
func restore(m *Model, _ string) tea.Cmd {
	x := m.pending[len(m.pending)-1]
	m.pending = m.pending[:len(m.pending)-1]
	m.at = x.key
	m.arrange()
	return m.Notify(style.Text, x.label+" is back")
}

// expired deletes what was not had back.
func expire(m *Model, number expiredMsg) tea.Cmd {
	i := slices.IndexFunc(m.pending, func(r removal) bool { return r.number == int(number) })
	if i < 0 {
		return nil
	}
	x := m.pending[i]
	m.pending = slices.Delete(m.pending, i, i+1)
	m.deleted = append(m.deleted, x)
	if m.Notice.Text != "" && strings.HasSuffix(m.Notice.Text, "u undoes") && len(m.pending) == 0 {
		m.Notice = style.Part{}
	}
	s := m.store
	return func() tea.Msg { return removedMsg{x.number, x.delete(s)} }
}

// delete deletes it for good.
func (x *removal) delete(s *store.Store) error {
	if x.names != nil {
		return search.Remove(context.Background(), s, x.names...)
	}
	err := s.Remove(context.Background(), x.key)
	if _, gone := errors.AsType[*store.NotFoundError](err); gone {
		return nil
	}
	return err
}

// gone follows a deletion. What could not be deleted is there again.
func removed(m *Model, msg removedMsg) tea.Cmd {
	i := slices.IndexFunc(m.deleted, func(r removal) bool { return r.number == msg.number })
	if i < 0 {
		return nil
	}
	x := m.deleted[i]
	if msg.err != nil {
		m.deleted = slices.Delete(m.deleted, i, i+1)
		m.arrange()
		return m.Notify(style.Warn, x.label+" stays: "+style.Clean(msg.err.Error()))
	}
	return nil // and it stays out of sight until the store is read without it
}

// Flush deletes what is still to be deleted, when the list was left.
func (m *Model) Flush() (err error) {
	for _, x := range m.pending {
		err = errors.Join(err, x.delete(m.store))
	}
	m.pending = nil
	return err
}

// annotatedMsg says what came of a note or of tags.
type annotatedMsg struct{ err error }

// annotate writes a run's note and tags.
func annotate(m *Model, id, note string, tags []string) tea.Cmd {
	ctx, s := m.Ctx, m.store
	return func() tea.Msg { return annotatedMsg{s.Annotate(ctx, id, note, tags)} }
}

// rename gives a run another name.
func rename(m *Model, id, name string) tea.Cmd {
	s, ctx := m.store, m.Ctx
	return func() tea.Msg { return annotatedMsg{s.Rename(ctx, id, name)} }
}
