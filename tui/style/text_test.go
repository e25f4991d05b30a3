package style

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"letters":                     "letters",
		"a\x1b[31mb\x07\x00c":         "a[31mbc",
		"two\nlines\tand":             "two lines and",
		"👩\u200d💻x":                   "??x",
		"a\ufe0fb\u202ec\u0301d":      "abcd",
		"naïve – 数据":                  "naïve – 数据",
		"\xff\xfe":                    "??",
		"\u009b31m\u2028\u2066\u00ad": "31m\u2028",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestLineNeverOverflows(t *testing.T) {
	v := Pen{ThemeAuto.Palette(true, colorprofile.ASCII, true), GlyphsBraille.Set(nil)}
	for room := range 12 {
		l := v.Line(room)
		l.Put(Train, "abc").Put(Text, "数据数据").To(9).Put(Bad, "xyz")
		if got := ansi.StringWidth(l.Full()); got != room {
			t.Errorf("room %d: %d wide: %q", room, got, l.Full())
		}
	}
}

func TestGlyphsByLocale(t *testing.T) {
	for _, c := range []struct {
		env   []string
		ascii bool
	}{
		{nil, false}, {[]string{"LANG=de_DE.UTF-8"}, false}, {[]string{"LANG=de_DE.UTF-8", "LC_ALL=de_DE.ISO-8859-1"}, true},
		{[]string{"LC_CTYPE=en_US.utf8", "LANG=ru_RU.KOI8-R"}, false},
		{[]string{"LANG=C"}, true}, {[]string{"LANG=en_US.UTF-8", "LC_ALL=POSIX"}, true}, {[]string{"LANG=C.UTF-8"}, false}, {[]string{"LC_ALL=", "LANG="}, false},
	} {
		if got := GlyphsAuto.Set(c.env).ASCII; got != c.ascii {
			t.Errorf("%v: ascii %v", c.env, got)
		}
	}
}
