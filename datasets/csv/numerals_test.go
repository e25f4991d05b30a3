package csv

import (
	"fmt"
	"math"
	"strings"
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
		if err := o.check(); err != nil {
			t.Fatal(err)
		}
		n := o.numerals()
		got, ok := n.parse(c.text)
		if ok == math.IsNaN(c.want) || ok && got != c.want {
			t.Errorf("%q with %q and %q: %g, %t", c.text, c.decimal, c.thousands, got, ok)
		}
		// The rows of a text see it in the same way.
		r := rows{comma: ';', numerals: n, text: []byte("x;" + c.text + ";y")}
		if _, err := r.next(); err != nil || (r.kinds[1] != kindWord) && r.values[1] != got {
			t.Errorf("%q: %g, expected %g", c.text, r.values[1], got)
		}
	}
}

func TestOptionsRefused(t *testing.T) {
	for field, list := range map[string][]Options{
		"header":    {{Header: "maybe"}},
		"missing":   {{Missing: "zero"}},
		"decimal":   {{Decimal: ";"}},
		"thousands": {{Thousands: "."}, {Thousands: "12"}, {Thousands: "1"}, {Thousands: "-"}, {Thousands: "e"}, {Thousands: ",", Decimal: ","}, {Thousands: "\xff"}, {Thousands: "\n"}},
	} {
		for _, o := range list {
			if _, err := Survey([]Source{source("f", "1,2\n3,4\n")}, 0, &o); err == nil || !strings.HasPrefix(err.Error(), field+" ") {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
}

// Numbers in another style don't pass for words: the flags that read them are said.
func TestOtherStyles(t *testing.T) {
	for text, want := range map[string]string{"1.234,50": "--decimal , --thousands .", "1,234.50": "--thousands ,", "1 234,5": "--decimal , --thousands ' '", "12 345": "--decimal , --thousands ' '", "1'234": `--thousands "'"`} {
		table := "a;b\n"
		for i := range 30 {
			table += fmt.Sprintf("%s;%g\n", strings.Replace(text, "4", fmt.Sprint(i%10), 1), float64(i)/8)
		}
		for _, target := range []string{"a", "b"} {
			s, err := Survey([]Source{source("f", table)}, 0, &Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = Plan(s, target); err == nil || !strings.Contains(err.Error(), "expected "+want) {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
}
