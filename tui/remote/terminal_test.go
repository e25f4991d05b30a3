package remote

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	gossh "golang.org/x/crypto/ssh"
)

func TestTermName(t *testing.T) {
	for text, want := range map[string]string{
		"xterm-256color": "xterm-256color", "screen.xterm-256color": "screen.xterm-256color", "rxvt+pcfkeys": "rxvt+pcfkeys", "dumb": "dumb",
		"": "xterm", "../../etc/passwd": "xterm", "x/y": "xterm", "a..b": "xterm", ".hidden": "xterm", "-x": "xterm",
		"xterm\n": "xterm", "xterm\x00": "xterm", "\x1b[2J": "xterm", strings.Repeat("x", longestTerm+1): "xterm", "ünder": "xterm",
	} {
		if got := termName(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func TestVariables(t *testing.T) {
	v := terminal{term: "xterm"}
	for _, c := range []struct {
		name, value string
		ok          bool
	}{
		{"LANG", "C", true}, {"LANG", "de_DE.UTF-8", true}, {"COLORTERM", "truecolor", true}, {"NO_COLOR", "1", true},
		{"LC_ALL", "x\x1b[2J", false}, {"LC_CTYPE", strings.Repeat("x", longestVariable+1), false}, {"lang", "C", false},
		{"TERMINFO", "/tmp", false}, {"HOME", "/", false}, {"TEA_DEBUG", "1", false}, {"LD_PRELOAD", "x", false}, {"LC_FOO", "x", false},
		{"TERM", "dumb", false}, {"", "", false}, {"LANG=C", "x", false},
	} {
		if ok := v.set(c.name, c.value); ok != c.ok {
			t.Errorf("%s=%s: %v", c.name, c.value, ok)
		}
	}
	if got, want := v.environ(), []string{"TERM=xterm", "LANG=de_DE.UTF-8", "COLORTERM=truecolor", "NO_COLOR=1"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"ann@laptop": "ann@laptop", "a\nb\r\tc": "a b  c", "a\x1b[31mb\x00\x7f": "a[31mb", "a\u200db\u202ec\u2066": "abc", "e\u0301": "e",
		"\xff\xfe": "??", "  x ": "x", "a\u2028b": "ab", "\u009b31m": "31m", "日本": "日本", strings.Repeat("x", 40): strings.Repeat("x", 32) + "…",
	} {
		if got := clean(text, 32); got != want {
			t.Errorf("%q becomes %q, expected %q", text, got, want)
		}
	}
}

// FuzzRequests holds that whatever a client asks for, the environment that its screen sees is small, printable and
// names no file.
func FuzzRequests(f *testing.F) {
	f.Add(gossh.Marshal(ptyRequest{Term: "xterm", Columns: 80, Rows: 24}), "LANG", "C.UTF-8")
	f.Add(gossh.Marshal(ptyRequest{Term: "../../x", Columns: 1 << 31, Rows: 1<<32 - 1}), "TERM", "\x1b]0;x\a")
	f.Add([]byte{0, 0, 0, 200, 'x'}, "LC_ALL", "\u202e")
	f.Add([]byte{}, "NO_COLOR", "")
	l := Limits{}.normal()
	f.Fuzz(func(t *testing.T, body []byte, name, value string) {
		var p ptyRequest
		payload(&gossh.Request{Payload: body}, &p)
		v := terminal{term: termName(p.Term), size: l.clamp(p.Columns, p.Rows)}
		v.set(name, value)
		if s := v.size; s.Width < 1 || s.Height < 1 || s.Width > 500 || s.Height > 200 {
			t.Errorf("size %v", s)
		}
		for _, e := range v.environ() {
			if len(e) > 100 || strings.ContainsFunc(e, func(r rune) bool { return r > 126 || unicode.IsControl(r) }) {
				t.Errorf("environment %q", e)
			}
		}
		if strings.ContainsAny(v.term, "/\\") || strings.Contains(v.term, "..") {
			t.Errorf("TERM %q", v.term)
		}
		if c := clean(value, 10); len([]rune(c)) > 11 || strings.ContainsFunc(c, unicode.IsControl) {
			t.Errorf("cleaned %q", c)
		}
	})
}
