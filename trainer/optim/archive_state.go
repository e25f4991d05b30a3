package optim

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Position is weights that the state around it belongs to, which is worthless at others.
type Position []float64

// Is reports whether the weights are those of the place.
func (p Position) Is(w []float64) bool { return slices.Equal(p, w) }

// Numbers are as many as there are, and not as many as weights.
type Numbers []float64

var positionType = reflect.TypeFor[Position]()

// State carries what a pointer to a struct points at: its fields that have a key,
//
//	Speed []float64 `archive:"speed"`
//
// By type they are carried as follows, w being the weights at which the state is saved and restored:
//
//	float64, bool, string  as they are
//	int                    from 0 to MaxCount
//	[]float64              as many numbers as w has
//	Numbers                how many; then these
//	[]int                  ascending
//	*struct                whether there is one; beside it its fields, or under its key where the tag is "key,apart".
//	                       One with a Position that is not w counts as none. With ",late" in the tag one that is not
//	                       there is none, as of what earlier versions did not have
//	[]struct               how many; then the fields of each, under a key like "pair 2" for one of "pairs"
//
// A Position needs no key, being w whenever it is carried, and an embedded struct none either.
func (a *Archive) State(state any, w []float64) { a.fields(reflect.ValueOf(state).Elem(), w) }

func (a *Archive) fields(v reflect.Value, w []float64) {
	for i := range v.NumField() {
		declared, field := v.Type().Field(i), v.Field(i)
		if declared.Anonymous {
			a.fields(field, w)
		} else if key, ok := declared.Tag.Lookup("archive"); ok {
			a.field(key, field, w)
		} else if declared.Type == positionType && a.Restoring() {
			field.Set(reflect.ValueOf(Position(slices.Clone(w))))
		}
	}
}

func (a *Archive) field(key string, field reflect.Value, w []float64) {
	key, apart := strings.CutSuffix(key, ",apart")
	key, late := strings.CutSuffix(key, ",late")
	if late && a.Restoring() && !a.HasNumber(key) {
		field.SetZero()
		return
	}
	switch p := field.Addr().Interface().(type) {
	case *float64:
		a.Number(key, p)
	case *int:
		a.Count(key, p, MaxCount)
	case *bool:
		a.Flag(key, p)
	case *string:
		a.Text(key, p)
	case *[]float64:
		a.Vector(key, p, len(w))
	case *Numbers:
		count := len(*p)
		a.Count(key+" count", &count, MaxCount)
		a.Vector(key, (*[]float64)(p), count)
	case *[]int:
		a.rows(key, p)
	default:
		switch field.Kind() {
		case reflect.Pointer:
			a.optional(key, field, w, apart)
		case reflect.Slice:
			a.list(key, field, w)
		default:
			panic(fmt.Sprintf("optim: Archive: %s%s is a %v", a.prefix, key, field.Type()))
		}
	}
}

// optional carries a pointer to a struct.
func (a *Archive) optional(key string, field reflect.Value, w []float64, apart bool) {
	there := a.Has(key, !field.IsNil() && valid(field.Elem(), w))
	if a.Restoring() {
		field.SetZero()
		if there {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
	if there && apart {
		a.In(key).fields(field.Elem(), w)
	} else if there {
		a.fields(field.Elem(), w)
	}
}

// valid reports whether a struct's Position, if it has one, is w.
func valid(v reflect.Value, w []float64) bool {
	for i := range v.NumField() {
		if v.Type().Field(i).Type == positionType {
			return v.Field(i).Interface().(Position).Is(w)
		}
	}
	return true
}

// list carries a slice of structs.
func (a *Archive) list(key string, field reflect.Value, w []float64) {
	count := field.Len()
	a.Count(key, &count, MaxCount)
	if a.Restoring() {
		field.SetZero()
	}
	for i := 0; i < count && a.Err() == nil; i++ {
		if a.Restoring() {
			field.Set(reflect.Append(field, reflect.New(field.Type().Elem()).Elem()))
		}
		a.In(fmt.Sprint(strings.TrimSuffix(key, "s"), " ", i)).fields(field.Index(i), w)
	}
}

// rows carries ascending numbers of rows.
func (a *Archive) rows(key string, v *[]int) {
	count := len(*v)
	a.Count(key+" count", &count, MaxCount)
	numbers := make([]float64, 0, len(*v))
	for _, row := range *v {
		numbers = append(numbers, float64(row))
	}
	a.Vector(key, &numbers, count)
	if !a.Restoring() || a.Err() != nil {
		return
	}
	*v = make([]int, count)
	for i, number := range numbers {
		if !(number >= 0 && number < MaxCount) || number != math.Trunc(number) || i > 0 && number <= numbers[i-1] {
			a.Fail(key, "%v: expected whole numbers ≥ 0, ascending", number)
			return
		}
		(*v)[i] = int(number)
	}
}

// Method carries what a method keeps between two Steps. Restoring, it is a new one, and the state is as it was then,
// its weights, gradient and settings included. What can be computed again is: its charges to the objective are the
// caller's to undo.
func (a *Archive) Method(m Method, s *State) {
	a.State(m.Carried(s), s.W)
	if r, ok := m.(restorer); ok && a.Restoring() && a.Err() == nil {
		if err := r.Restored(s); err != nil {
			a.Fail("method", "%v", err)
		}
	}
}

// restorer is a method that makes again what is too large to be carried, or checks what was.
type restorer interface{ Restored(s *State) error }
