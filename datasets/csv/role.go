package csv

// role is what becomes of a file column.
type role struct {
	field    *Field // nil for the target, and for what is left out
	used     bool
	required bool           // whether a row without a value is left out
	code     map[string]int // of words; nil for numbers
	order    dateOrder      // of dates
}

// otherCode returns the number of a field that is none of the words that have one; the target has no others.
func (r *role) otherCode(field []byte) (code int, known bool) {
	switch {
	case r.field == nil:
		return 0, false
	case isMissing(field):
		return r.field.missingCode(), true
	}
	return r.field.otherCode(), true
}

// Column says what the values of a column are: numbers, each of which is exact in Width bytes (1 for whole numbers from
// 0 to 255, 4 for single precision, else 8), or in 2 bytes the numbers of so many Kinds of words or classes. Numbers
// may be Missing.
type Column struct {
	Width, Kinds int
	Missing      bool
}
