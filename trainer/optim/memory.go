package optim

import (
	"fmt"
	"math"
	"slices"
)

// Memory carries what decides how something goes on into a checkpoint, or out of one. It holds arrays, numbers and
// texts by key, each exactly. The same calls do both ways: while it takes, they copy what they are pointed at into it;
// while it gives, they copy back what is there under the key, and what is missing or does not fit is an error that Err
// returns, after which they do nothing.
type Memory struct {
	store  *memoryStore
	prefix string
}

type memoryStore struct {
	vectors map[string][]float64
	numbers map[string]float64
	texts   map[string]string
	giving  bool
	err     error
}

// NewMemory returns an empty one, which takes.
func NewMemory() *Memory {
	return &Memory{store: &memoryStore{
		vectors: map[string][]float64{}, numbers: map[string]float64{}, texts: map[string]string{},
	}}
}

// GivingMemory returns one that gives what is in the maps. Any may be nil.
func GivingMemory(vectors map[string][]float64, numbers map[string]float64, texts map[string]string) *Memory {
	return &Memory{store: &memoryStore{vectors: vectors, numbers: numbers, texts: texts, giving: true}}
}

// Content returns what was taken. It is not to be changed.
func (m *Memory) Content() (vectors map[string][]float64, numbers map[string]float64, texts map[string]string) {
	return m.store.vectors, m.store.numbers, m.store.texts
}

// Giving reports which way it goes.
func (m *Memory) Giving() bool { return m.store.giving }

// In returns the part of it whose keys begin with the given one.
func (m *Memory) In(key string) *Memory { return &Memory{store: m.store, prefix: m.prefix + key + "."} }

// Fail makes Err return that what is there under a key is not right, unless something was wrong before.
func (m *Memory) Fail(key, format string, args ...any) {
	if m.store.err == nil {
		m.store.err = fmt.Errorf("%s%s: %s", m.prefix, key, fmt.Sprintf(format, args...))
	}
}

// Err returns what was wrong first, with its key.
func (m *Memory) Err() error { return m.store.err }

// Number carries any number, also one that is not finite.
func (m *Memory) Number(key string, v *float64) {
	switch {
	case !m.store.giving:
		m.store.numbers[m.prefix+key] = *v
	case m.store.err == nil:
		saved, ok := m.store.numbers[m.prefix+key]
		if !ok {
			m.Fail(key, "not there: expected a number")
			return
		}
		*v = saved
	}
}

// Count carries a whole number from 0 to most.
func (m *Memory) Count(key string, v *int, most int) {
	number := float64(*v)
	m.Number(key, &number)
	if !m.store.giving || m.store.err != nil {
		return
	}
	if number != math.Trunc(number) || !(number >= 0 && number <= float64(most)) {
		m.Fail(key, "%v: expected a whole number from 0 to %d", number, most)
		return
	}
	*v = int(number)
}

// MostCount is the largest number that Count carries exactly.
const MostCount = min(1<<53, math.MaxInt)

// Flag carries a yes or no.
func (m *Memory) Flag(key string, v *bool) {
	number := 0
	if *v {
		number = 1
	}
	m.Count(key, &number, 1)
	if m.store.giving && m.store.err == nil {
		*v = number == 1
	}
}

// Has carries whether there is something, which the caller knows when it takes, and returns it.
func (m *Memory) Has(key string, now bool) bool {
	m.Flag(key, &now)
	return now && m.store.err == nil
}

// Text carries a text.
func (m *Memory) Text(key string, v *string) {
	switch {
	case !m.store.giving:
		m.store.texts[m.prefix+key] = *v
	case m.store.err == nil:
		saved, ok := m.store.texts[m.prefix+key]
		if !ok {
			m.Fail(key, "not there: expected a text")
			return
		}
		*v = saved
	}
}

// Vector carries n numbers. Giving, it stores them where v has room, and in new memory otherwise.
func (m *Memory) Vector(key string, v *[]float64, n int) {
	switch {
	case !m.store.giving:
		if len(*v) != n {
			panic(fmt.Sprintf("optim: Memory: %s%s has %d numbers, expected %d", m.prefix, key, len(*v), n))
		}
		m.store.vectors[m.prefix+key] = slices.Clone(*v)
	case m.store.err == nil:
		saved, ok := m.store.vectors[m.prefix+key]
		if !ok || len(saved) != n {
			m.Fail(key, "%d numbers: expected %d", len(saved), n)
			return
		}
		*v = append((*v)[:0], saved...)
	}
}

// Rows carries numbers of rows, ascending, each below rows.
func (m *Memory) Rows(key string, v *[]int, rows int) {
	count := len(*v)
	m.Count(key+" count", &count, rows)
	numbers := make([]float64, 0)
	for _, row := range *v {
		numbers = append(numbers, float64(row))
	}
	m.Vector(key, &numbers, count)
	if !m.store.giving || m.store.err != nil {
		return
	}
	*v = make([]int, count)
	for i, number := range numbers {
		if !(number >= 0 && number < float64(rows)) || number != math.Trunc(number) || i > 0 && number <= numbers[i-1] {
			m.Fail(key, "%v: expected numbers from 0 to %d, ascending", number, rows-1)
			return
		}
		(*v)[i] = int(number)
	}
}

// Here carries weights that something belongs to which is worthless at others. What is carried is whether they are
// those of now, which it returns; otherwise nothing else need be.
func (m *Memory) Here(key string, at *[]float64, now []float64) bool {
	here := m.Has(key, slices.Equal(*at, now))
	if here && m.store.giving {
		*at = append((*at)[:0], now...)
	}
	return here
}

// Settings carries the values of a method's hyperparameters, each as it is written.
func (m *Memory) Settings(s *Settings) {
	for i := range s.parameters {
		h := &s.parameters[i]
		text := h.Text(s.values[i])
		m.Text(h.Key, &text)
		if !m.store.giving || m.store.err != nil {
			continue
		}
		if err := s.PutText(h.Key, text); err != nil {
			m.Fail(h.Key, "%v", err)
		}
	}
}
