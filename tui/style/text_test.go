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
		"\u009b31m\u2028\u2066\u00ad": "31m",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// What a row may hold beside what is printed are colours.
func TestShown(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[1;38;5;110mloss\x1b[m ▁▂ 数据":     "\x1b[1;38;5;110mloss\x1b[m ▁▂ 数据",
		"\x1b]0;title\x07\x1b[2J":              "]0;title[2J",
		"a\u009b2J\u202eb\u2028\U000e0041\xff": "a2Jb",
		"\x1b[31":                              "[31",
	} {
		if got := Shown(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// Whoever draws a text of strangers' need not think of what is in it.
func TestPutCleans(t *testing.T) {
	v := Pen{ThemeAuto.Palette(true, colorprofile.ASCII, true), GlyphsBraille.Set(nil)}
	if got := v.Line(12).Write(Text, "a\x1b[31mb\x1b]0;\u202e").Full(); got != "a[31mb]0;   " {
		t.Errorf("%q", got)
	}
}

func TestLineNeverOverflows(t *testing.T) {
	v := Pen{ThemeAuto.Palette(true, colorprofile.ASCII, true), GlyphsBraille.Set(nil)}
	for room := range 12 {
		l := v.Line(room)
		l.Write(Train, "abc").Write(Text, "数据数据").To(9).Write(Bad, "xyz")
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
