package lex

import (
	"math"
	"testing"
)

func TestNumerals(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		decimal, thousands, text string
		want                     float64
	}{
		{",", ".", "1.234.567,5", 1234567.5}, {",", ".", "-1.234", -1234}, {",", ".", "1234,5", 1234.5}, {",", ".", "1.23,5", nan}, {",", ".", "12.3456", nan},
		{",", ".", "1234.567", nan}, {",", ".", "1,5e3", 1500}, {",", ".", "+,5", 0.5}, {",", ".", "5,", 5}, {",", ".", ",", nan}, {",", ".", "1,2,3", nan},
		{",", "", "1.5", nan}, {",", "", "1,5", 1.5}, {"", ",", "1,234.5", 1234.5}, {"", ",", "1,5", nan}, {".", " ", "1 234 567", 1234567}, {"", " ", "1 23", nan},
		{",", "\u202f", "1\u202f234,5", 1234.5}, {"", "'", "1'000", 1000}, {"", "'", "1'000'", nan}, {",", ".", "inf", nan}, {",", ".", "1e999", nan}, {",", ".", "12.345.", nan},
	} {
		o := Options{Decimal: c.decimal, Thousands: c.thousands}
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		n := o.Numerals()
		got, ok := n.Parse(c.text)
		if ok == math.IsNaN(c.want) || ok && got != c.want {
			t.Errorf("%q with %q and %q: %g, %t", c.text, c.decimal, c.thousands, got, ok)
		}
		// The rows of a text see it in the same way.
		r := Rows{Comma: ';', Numerals: n, text: []byte("x;" + c.text + ";y")}
		if _, err := r.Next(); err != nil || (r.Kinds[1] != KindWord) && r.Values[1] != got {
			t.Errorf("%q: %g, expected %g", c.text, r.Values[1], got)
		}
	}
}

// TestUnits writes how numbers with a unit are written, and reads that.
func TestUnits(t *testing.T) {
	for _, unit := range []string{"", "$", "€/100g", "€/5g", "l/100km", "m2", "%", "°c", "kr."} {
		for _, style := range OtherStyles {
			n := style.Dressed(unit)
			if got, ok := ParseNumerals(n.String()); !ok || got != n {
				t.Errorf("%q: %q is read as %+v", unit, n.String(), got)
			}
		}
	}
}
