package schema

import "newtop/datasets/csv/lex"

// Role is what becomes of a file column.
type Role struct {
	Field    *Field // nil for the target, and for what is left out
	Used     bool
	Required bool           // whether a row without a value is left out
	Code     map[string]int // of words; nil for numbers
	Order    lex.DateOrder  // of dates
	Reading  lex.Reading
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
