// Package fields writes errors that name options. A Go program knows an option as a field, a command line as a flag, so
// the texts have the fields in braces, as in "it together with {Experts}".
package fields

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// Error is an error that calls fields by any names. Its Error calls them by their own.
type Error interface {
	error
	In(name func(field string) string) string
}

// Text returns what an error says, with fields called by the names that they have elsewhere.
func Text(err error, name func(field string) string) string {
	var named Error
	if !errors.As(err, &named) {
		return err.Error()
	}
	return strings.Replace(err.Error(), named.Error(), named.In(name), 1)
}

// Plain calls a field by its own name.
func Plain(field string) string { return field }

// Names are the fields that texts have in braces. Other words in braces stay as they are, which may be somebody's data.
type Names map[string]bool

// Of returns the fields of a struct type, and others.
func Of[T any](others ...string) Names {
	names := Names{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		names[f.Name] = true
	}
	for _, other := range others {
		names[other] = true
	}
	return names
}

var braced = regexp.MustCompile(`\{[A-Z]\w*\}`)

// In puts names in the place of fields in braces.
func (n Names) In(text string, name func(field string) string) string {
	return braced.ReplaceAllStringFunc(text, func(word string) string {
		field := strings.Trim(word, "{}")
		if !n[field] {
			return word
		}
		return name(field)
	})
}

// failure is an error of a text.
type failure struct {
	names Names
	text  string
	err   error // what it wraps, which the text says too; nil: none
}

// Errorf returns an Error whose format has fields in braces, which are among n. It wraps the operand of %w.
func (n Names) Errorf(format string, values ...any) error {
	err := fmt.Errorf(format, values...)
	return &failure{n, err.Error(), errors.Unwrap(err)}
}

func (f *failure) Error() string                            { return f.In(Plain) }
func (f *failure) Unwrap() error                            { return f.err }
func (f *failure) In(name func(field string) string) string { return f.names.In(f.text, name) }
