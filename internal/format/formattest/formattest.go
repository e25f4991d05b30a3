// Package formattest has texts on which a terminal acts, for tests of what shows texts of strangers'.
package formattest

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"newtop/internal/format"
)

// Blink is a sequence of colours that newtop never writes.
const Blink = "\x1b[5;35m"

// Forged is how a line begins that a text of Hostile would make where its line end is let through.
const Forged = "FORGED"

// Hostile are texts on which a terminal acts: what writes to the clipboard, sets the title, clears the screen and asks
// the terminal; controls of 8 bits and bytes that are no UTF-8; what turns the direction of text; line ends of every
// kind; tags and what has no width.
func Hostile() []string {
	return []string{
		"a\x1b]52;c;ZXZpbA==\x07b", "a\x1b]0;title\x1b\\b", "a\x1b[2Jb", "a\x1bP$qm\x1b\\b", Blink + "b",
		"a\u009b2J\u009dc\u009cb", "a\x9b2J\x9d\xffb", "a\x7f\x08b",
		"a\u202eb\u2066c", "a\u2028b\u2029c\u0085d", "a\U000e0041\U000e0042b", "a\u200bb\ufeffc\u00add\u200fe\ue000",
		"a\r\n" + Forged, "a\rb\vc\fd",
	}
}

// All is all of Hostile in one.
func All() string { return strings.Join(Hostile(), " ") }

// Spoil sets every text that v points to, in fields, lists and maps, and leaves all else. Lists and what fields point
// to are others afterwards, as those before may be of others too.
func Spoil(v any, text string) { set(reflect.ValueOf(v).Elem(), text, false) }

// Fill does that, and gives all else a value: lists have two elements, numbers are 1.
func Fill(v any, text string) { set(reflect.ValueOf(v).Elem(), text, true) }

func set(v reflect.Value, text string, all bool) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Interface:
		if v.NumMethod() == 0 && (all || !v.IsNil()) {
			v.Set(reflect.ValueOf(text))
		}
	case reflect.Pointer:
		if !all && v.IsNil() {
			return
		}
		own := reflect.New(v.Type().Elem())
		if !all {
			own.Elem().Set(v.Elem())
		}
		v.Set(own)
		set(own.Elem(), text, all)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				set(v.Field(i), text, all)
			}
		}
	case reflect.Slice, reflect.Array:
		if all && v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		} else if v.Kind() == reflect.Slice && !v.IsNil() {
			own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(own, v)
			v.Set(own)
		}
		for i := range v.Len() {
			set(v.Index(i), text, all)
		}
	case reflect.Map:
		if all || v.Len() > 0 {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			set(key, text, true)
			set(value, text, true)
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(key, value)
		}
	case reflect.Bool:
		v.SetBool(v.Bool() || all)
	case reflect.Int, reflect.Int64, reflect.Uint8, reflect.Uint64, reflect.Float64:
		if all {
			v.Set(reflect.ValueOf(1).Convert(v.Type()))
		}
	}
}

// Acts returns the first place of a text of lines on which a terminal would act, "" for none. Of sequences of colours
// it lets through those that newtop writes, if it is told to.
func Acts(text string, colours bool) string {
	for i := 0; i < len(text); {
		if n := format.StyleLength(text[i:]); colours && n > 0 && text[i:i+n] != Blink {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if r != '\n' && r != '\t' && !unicode.IsGraphic(r) || r == utf8.RuneError && n == 1 {
			return fmt.Sprintf("%q in %q", text[i:i+n], text[max(i-40, 0):min(i+40, len(text))])
		}
		if strings.HasPrefix(text[i:], "\n"+Forged) {
			return fmt.Sprintf("a line of a stranger's in %q", text[max(i-40, 0):min(i+40, len(text))])
		}
		i += n
	}
	return ""
}
