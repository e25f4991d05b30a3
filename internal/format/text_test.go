package format

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"naïve – 数据 👍":       "naïve – 数据 👍",
		"a\x1b[31mb\x07\x00": `a\x1b[31mb\a\x00`,
		"two\nlines\tand\r":  `two\nlines\tand\r`,
		"\u009b31m\x7f":      `\u009b31m\u007f`,
		"a\u202eb\u2066c":    `a\u202eb\u2066c`,
		"\u2028\u2029\u200d": `\u2028\u2029\u200d`,
		"\U000e0041\ue000":   `\udb40\udc41\ue000`,
		"\xff\x9b\xc3":       "���",
	} {
		if got := Printable(in); got != want {
			t.Errorf("%q: %s, expected %s", in, got, want)
		}
	}
}

// In a JSON string every escape means the character that it stands for.
func TestPrintableIsJSON(t *testing.T) {
	for r := rune(' '); r <= utf8.MaxRune; r++ {
		if r > 0x3000 {
			r += 96
		}
		if r == '"' || r == '\\' || !utf8.ValidRune(r) {
			continue
		}
		text := Printable(string(r))
		var back string
		if text == string(r) {
			continue
		}
		if err := json.Unmarshal([]byte(`"`+text+`"`), &back); err != nil || back != string(r) {
			t.Fatalf("%U is written as %s, which is %q: %v", r, text, back, err)
		}
	}
}

func TestShortened(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		in   string
		most int
		has  []string
	}{
		{"--opt: expected one of adam, scg", 32, []string{"--opt: expected one of adam, scg"}},
		{`data "` + long + `": expected a name`, 110, []string{`data "xxx`, `x…x`, `xxx": expected a name`}},
		{"unknown flag: --" + long, 260, []string{"unknown flag: --xxx", "…"}},
		{"--set " + strings.Repeat(`a "b" `, 30_000) + ": expected KEY=VALUE", 2000, []string{"--set a", "…", ": expected KEY=VALUE"}},
		{`"` + strings.Repeat(`\"`, 50_000) + `" is long`, 100, []string{`" is long`}},
		{`"` + long, 240, []string{`"xxx`, "…"}},
		{strings.Repeat("数", 300), 240, []string{"数…数"}},
	} {
		got := Shortened(c.in)
		if n := utf8.RuneCountInString(got); n > c.most || !utf8.ValidString(got) {
			t.Errorf("%s…: %d characters, expected %d at most", strconv.Quote(c.in)[:20], n, c.most)
		}
		for _, want := range c.has {
			if !strings.Contains(got, want) {
				t.Errorf("%q lacks %q", got, want)
			}
		}
	}
}
