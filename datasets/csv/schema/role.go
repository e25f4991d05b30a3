package schema

import "newtop/datasets/csv/lex"

// Role is what becomes of a file column.
type Role struct {
	Field    *Field // nil for the target, and for what is left out
	Used     bool
	Required bool           // whether a row without a value is left out
	Code     map[string]int // of words; nil for numbers
	Order    lex.DateOrder  // of dates
}

// OtherCode returns the number of a field that is none of the words that have one; the target has no others.
func (r *Role) OtherCode(field []byte) (code int, known bool) {
	switch {
	case r.Field == nil:
		return 0, false
	case lex.IsMissing(field):
		return r.Field.MissingCode(), true
	}
	return r.Field.OtherCode(), true
}

// Column says what the values of a column are: numbers, each of which is exact in Width bytes (1 for whole numbers from
// 0 to 255, 4 for single precision, else 8), or in 2 bytes the numbers of so many Kinds of words or classes. Numbers
// may be Missing.
type Column struct {
	Width, Kinds int
	Missing      bool
}
