package trainer

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"newtop/models"
	"newtop/trainer/optim"
)

// ConfigError says which field of a Config, or of other options, was given what, and what it takes. Expected may name other
// fields in braces, as in "it together with {Experts}".
type ConfigError struct{ Field, Value, Expected string }

// Error calls fields by their names.
func (e *ConfigError) Error() string { return e.in(plain) }

func (e *ConfigError) in(name func(field string) string) string {
	return fmt.Sprintf("%s %s: expected %s", name(e.Field), e.Value, renamed(e.Expected, name))
}

// fieldsError is what went wrong with what some fields, in braces, name.
type fieldsError struct {
	fields string
	err    error
}

func (e *fieldsError) Error() string { return e.in(plain) }
func (e *fieldsError) Unwrap() error { return e.err }
func (e *fieldsError) in(name func(field string) string) string {
	return renamed(e.fields, name) + ": " + e.err.Error()
}

func plain(field string) string { return field }

var fieldNames = regexp.MustCompile(`\{[A-Z]\w*\}`)

// renamed puts names in the place of fields of a Config in braces.
func renamed(text string, name func(field string) string) string {
	return fieldNames.ReplaceAllStringFunc(text, func(braced string) string {
		field := strings.Trim(braced, "{}")
		if _, ok := reflect.TypeFor[Config]().FieldByName(field); !ok {
			return braced
		}
		return name(field)
	})
}

// ErrorText returns what an error says, with fields of a Config called by the names that they have elsewhere, as flags of a
// command line.
func ErrorText(err error, name func(field string) string) string {
	var named interface {
		error
		in(name func(field string) string) string
	}
	if !errors.As(err, &named) {
		return err.Error()
	}
	return strings.Replace(err.Error(), named.Error(), named.in(name), 1)
}

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
