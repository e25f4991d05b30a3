package format

import (
	"slices"
	"testing"
)

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"trian", "train", 1}, {"letr", "letter", 2}, {"kitten", "sitting", 3},
		{"mes", "mse", 1}, {"ca", "abc", 3}, {"adam", "adam", 0}, {"flaw", "lawn", 2},
	} {
		if got := slipsTo(c.a, c.b); got != c.want {
			t.Errorf("%q to %q takes %d slips, expected %d", c.a, c.b, got, c.want)
		}
		if got := slipsTo(c.b, c.a); got != c.want {
			t.Errorf("%q to %q takes %d slips, expected %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNear(t *testing.T) {
	known := []string{"letters", "digits", "letter", "mnist", "letter", "tr-newton", "tr-gn", "tr-gn-jacobi", "tr-rows"}
	for _, c := range []struct {
		typed string
		want  []string
	}{
		{"lettr", []string{"letter", "letters"}},
		{"LETTERS", []string{"letters", "letter"}},
		{"digit", []string{"digits"}},
		{"tr-newtn", []string{"tr-newton"}},
		{"tr", []string{"tr-gn", "tr-rows", "tr-newton"}},
		{"foo", nil},
		{"", nil},
		{"x", nil},
	} {
		if got := Near(c.typed, known); !slices.Equal(got, c.want) {
			t.Errorf("%q: near are %q, expected %q", c.typed, got, c.want)
		}
	}
	if got := DidYouMean("lettr", known); got != "; did you mean letter or letters?" {
		t.Errorf("said %q", got)
	}
	if got := DidYouMean("foo", known); got != "" {
		t.Errorf("said %q", got)
	}
}
