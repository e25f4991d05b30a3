package optim

import (
	"fmt"
	"math"
)

// Archive carries state into a checkpoint, or out of one. It holds arrays, numbers and texts by key, each exactly. The
// same calls go both ways: saving, they copy what they are pointed at into it; restoring, they copy back what is there
// under the key, and what is missing or does not fit is an error that Err returns, after which they do nothing.
type Archive struct {
	store  *archiveStore
	prefix string
}

type archiveStore struct {
	vectors   map[string][]float64
	numbers   map[string]float64
	texts     map[string]string
	room      map[string][]float64 // arrays that Vector may save in
	restoring bool
	err       error
}

// NewArchive returns an empty one, to save in.
func NewArchive() *Archive {
	return &Archive{store: &archiveStore{
		vectors: map[string][]float64{}, numbers: map[string]float64{}, texts: map[string]string{},
	}}
}

// OpenArchive returns one to restore from, with what is in the maps. Any may be nil.
func OpenArchive(vectors map[string][]float64, numbers map[string]float64, texts map[string]string) *Archive {
	return &Archive{store: &archiveStore{vectors: vectors, numbers: numbers, texts: texts, restoring: true}}
}

// Content returns what was saved. It is not to be changed.
func (a *Archive) Content() (vectors map[string][]float64, numbers map[string]float64, texts map[string]string) {
	return a.store.vectors, a.store.numbers, a.store.texts
}

// Clear empties one that is saved in, and saves in the room of what was there.
func (a *Archive) Clear() {
	s := a.store
	s.room, s.vectors = s.vectors, s.room
	if s.vectors == nil {
		s.vectors = map[string][]float64{}
	}
	clear(s.vectors)
	clear(s.numbers)
	clear(s.texts)
}

// Restoring reports which way it goes.
func (a *Archive) Restoring() bool { return a.store.restoring }

// In returns the part of it whose keys begin with the given one.
func (a *Archive) In(key string) *Archive {
	return &Archive{store: a.store, prefix: a.prefix + key + "."}
}

// Fail makes Err return that what is there under a key is not right, unless something was wrong before.
func (a *Archive) Fail(key, format string, args ...any) {
	if a.store.err == nil {
		a.store.err = fmt.Errorf("%s%s: %s", a.prefix, key, fmt.Sprintf(format, args...))
	}
}

// Err returns what was wrong first, with its key.
func (a *Archive) Err() error { return a.store.err }

// Number carries any number, also one that is not finite.
func (a *Archive) Number(key string, v *float64) { carry(a, a.store.numbers, key, v, "number") }

// HasNumber reports whether there is a number under the key, of one that is restored from.
func (a *Archive) HasNumber(key string) bool {
	_, ok := a.store.numbers[a.prefix+key]
	return a.store.restoring && ok
}

// Text carries a text.
func (a *Archive) Text(key string, v *string) { carry(a, a.store.texts, key, v, "text") }

func carry[T any](a *Archive, values map[string]T, key string, v *T, what string) {
	switch saved, ok := values[a.prefix+key]; {
	case !a.store.restoring:
		values[a.prefix+key] = *v
	case a.store.err != nil:
	case !ok:
		a.Fail(key, "not there: expected a %s", what)
	default:
		*v = saved
	}
}

// Count carries a whole number from 0 to most.
func (a *Archive) Count(key string, v *int, limit int) {
	number := float64(*v)
	a.Number(key, &number)
	if !a.store.restoring || a.store.err != nil {
		return
	}
	if number != math.Trunc(number) || !(number >= 0 && number <= float64(limit)) {
		a.Fail(key, "%v: expected a whole number from 0 to %d", number, limit)
		return
	}
	*v = int(number)
}

// MaxCount is the largest number that Count carries exactly.
const MaxCount = min(1<<53, math.MaxInt)

// Flag carries a yes or no.
func (a *Archive) Flag(key string, v *bool) {
	number := 0
	if *v {
		number = 1
	}
	a.Count(key, &number, 1)
	if a.store.restoring && a.store.err == nil {
		*v = number == 1
	}
}

// Has carries whether there is something, which the caller knows when it saves, and returns it.
func (a *Archive) Has(key string, now bool) bool {
	a.Flag(key, &now)
	return now && a.store.err == nil
}

// Vector carries n numbers. Restoring, it stores them where v has room, and in a new slice otherwise.
func (a *Archive) Vector(key string, v *[]float64, n int) {
	switch {
	case !a.store.restoring:
		if len(*v) != n {
			panic(fmt.Sprintf("optim: Archive: %s%s has %d numbers, expected %d", a.prefix, key, len(*v), n))
		}
		name := a.prefix + key
		a.store.vectors[name] = append(a.store.room[name][:0], *v...)
	case a.store.err == nil:
		saved, ok := a.store.vectors[a.prefix+key]
		if !ok || len(saved) != n {
			a.Fail(key, "%d numbers: expected %d", len(saved), n)
			return
		}
		*v = append((*v)[:0], saved...)
	}
}

// Settings carries the values of a method's hyperparameters, each as it is written. Restoring, a late one that is not
// there keeps the value that it has.
func (a *Archive) Settings(s *Settings) {
	for i := range s.parameters {
		h := &s.parameters[i]
		if _, ok := a.store.texts[a.prefix+h.Key]; a.store.restoring && h.Late && !ok {
			continue
		}
		text := h.Text(s.values[i])
		a.Text(h.Key, &text)
		if !a.store.restoring || a.store.err != nil {
			continue
		}
		if err := s.SetText(h.Key, text); err != nil {
			a.Fail(h.Key, "%v", err)
		}
	}
}
