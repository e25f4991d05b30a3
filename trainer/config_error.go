package trainer

import (
	"errors"
	"fmt"
	"strings"

	"newtop/internal/fields"
	"newtop/models"
	"newtop/trainer/optim"
)

// ConfigError says which field of a Config, or of other options, was given what, and what it takes. Expected may name
// other fields in braces, as in "it together with {Experts}".
type ConfigError struct{ Field, Value, Expected string }

// Error calls fields by their names.
func (e *ConfigError) Error() string { return e.In(fields.Plain) }

// In is Error with fields called by other names.
func (e *ConfigError) In(name func(field string) string) string {
	field, sign := name(e.Field), " "
	if strings.HasPrefix(field, "-") && strings.Contains(field, " ") { // a key of a flag
		sign = "="
	}
	return fmt.Sprintf("%s%s%s: expected %s", field, sign, e.Value, configFields.In(e.Expected, name))
}

// configFields are those that texts name in braces.
var configFields = fields.Of[Config]()

// fieldsError is what went wrong with what some fields, in braces, name.
type fieldsError struct {
	fields string
	err    error
}

func (e *fieldsError) Error() string { return e.In(fields.Plain) }
func (e *fieldsError) Unwrap() error { return e.err }
func (e *fieldsError) In(name func(field string) string) string {
	return configFields.In(e.fields, name) + ": " + fields.Text(e.err, name)
}

// ErrorText returns what an error says, with fields of a Config called by the names that they have elsewhere, as flags
// of a command line.
func ErrorText(err error, name func(field string) string) string { return fields.Text(err, name) }

// NameFields has the session call fields by other names in what it tells of errors. It is called before Run.
func (s *Session) NameFields(name func(field string) string) { s.fieldName = name }

// text returns what the session tells of an error.
func (s *Session) text(err error) string {
	if s.fieldName == nil {
		return err.Error()
	}
	return ErrorText(err, s.fieldName)
}

// expectation is what an error says that it expected, or the whole of it.
func expectation(err error) string {
	var (
		name    *models.NameError
		setting *optim.SettingError
	)
	switch {
	case errors.As(err, &name):
		return name.Expected
	case errors.As(err, &setting):
		return setting.Expected
	}
	return err.Error()
}
