package config

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

// FieldsError is what went wrong with what some fields, in braces, name.
type FieldsError struct {
	Fields string
	Err    error
}

func (e *FieldsError) Error() string { return e.In(fields.Plain) }
func (e *FieldsError) Unwrap() error { return e.Err }

// In is Error with fields called by other names, as flags of a command line.
func (e *FieldsError) In(name func(field string) string) string {
	return configFields.In(e.Fields, name) + ": " + fields.Text(e.Err, name)
}

// ErrorText returns what an error says, with fields of a Config called by the names that they have elsewhere, as flags
// of a command line.
func ErrorText(err error, name func(field string) string) string { return fields.Text(err, name) }

// ExpectedBy is what an error says that it expected, or the whole of it.
func ExpectedBy(err error) string {
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
