package jsonscan

import (
	"encoding/json"
	"testing"
)

// A value is passed over up to its end, whatever stands in it.
func TestValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		` {"a":[1,{"b":"]}\""}]} ,`: `{"a":[1,{"b":"]}\""}]}`, `[[],[]]]`: `[[],[]]`, `"a\\"b`: `"a\\"`, `-1e3,`: `-1e3`, `NaN}`: `NaN`, `1`: `1`,
		`"a`: ``, `[1`: ``, `}`: ``, ``: ``, `,`: ``,
	} {
		s := Scanner{Text: []byte(text)}
		if got := string(s.Value()); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	s := Scanner{Text: []byte(` "a\"b" : x`)}
	if raw, ok := s.Quoted(); string(raw) != `a\"b` || !ok || !s.Next(':') || s.Peek() != 'x' || s.End() {
		t.Errorf("%q, %t, then %q", raw, ok, s.Text[s.At:])
	}
	if raw, ok := s.Quoted(); ok {
		t.Errorf("%q is not quoted", raw)
	}
}

// Numbers and words are those of JSON, and no others.
func TestNumbersAndWords(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "-0", "12", "-1.5", "1e3", "1E+3", "0.5e-10", "01", "1.", ".5", "+1", "-", "1e", "0x1", "Inf", "1_0", "",
		`"a"`, `"é"`, "\"\x80\"", "\"a\nb\"", `"a`} {
		s := Scanner{Text: []byte(text)}
		number, integer := s.Number()
		read := len(number) > 0 || s.Word() != nil
		if valid := json.Valid([]byte(text)) && text != "\"\x80\""; (read && s.End()) != valid {
			t.Errorf("%q: read %t, valid %t", text, read, valid)
		}
		if whole := len(number) == len(text) && text != "" && len(text) < 3; integer && s.End() != whole {
			t.Errorf("%q is an integer: %t", text, integer)
		}
	}
	var i int
	var b bool
	var word string
	s := Scanner{Text: []byte(`-7 true "w" "\n"`)}
	if !s.Int(&i) || i != -7 || !s.Bool(&b) || !b || !s.String(&word) || word != "w" || s.String(&word) {
		t.Errorf("%d, %t, %q", i, b, word)
	}
}
