package shape

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// naive reads a log as read does, but cuts every line into words anew, as it does where patterns are given.
func naive(t testing.TB, text string) *recorder {
	never, err := ParsePattern("\x01 {x}")
	if err != nil {
		t.Fatal(err)
	}
	p, r := New(), &recorder{}
	p.Configure(Options{Patterns: []*Pattern{never}})
	for _, line := range strings.Split(text, "\n") {
		if err := p.Line([]byte(line), r); err != nil {
			t.Error(err)
		}
	}
	p.Flush(r)
	r.warning = p.Warning()
	return r
}

func alike(t testing.TB, text string) {
	t.Helper()
	got, want := read(t, text), naive(t, text)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q:\n%v\nwant\n%v", text, got, want)
	}
}

var written = regexp.MustCompile(`-?\d+(\.\d*)?(e-?\d+)?`)

// Lines that differ in their numbers alone are read as if there were no template.
func TestAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	other := func(old string) string {
		switch random.IntN(10) {
		case 0:
			return []string{"nan", "-inf", "0", "1,234", "1e5", "5.", ".5", "12:30", "1-2batch", "7k"}[random.IntN(10)]
		case 1:
			return fmt.Sprint(random.Int64N(1 << 40))
		case 2, 3:
			return fmt.Sprint(random.NormFloat64())
		case 4:
			return fmt.Sprint(random.IntN(100))
		}
		digits := []byte(old)
		for i := range digits {
			if digit(digits[i]) {
				digits[i] = byte('0' + random.IntN(10))
			}
		}
		return string(digits)
	}
	for _, c := range cases {
		lines := strings.Split(c.in, "\n")
		log := c.in
		for n := range 2 * firstLines {
			line := lines[random.IntN(1+n%len(lines))]
			if random.IntN(4) > 0 {
				line = written.ReplaceAllStringFunc(line, other)
			}
			log += "\n" + line
		}
		alike(t, log)
	}
	alike(t, "loss 5a-5 2.5\nloss 5a- 2.5") // once taken for one shape
}

func FuzzAgain(f *testing.F) {
	for _, c := range cases {
		f.Add(c.in, c.in)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		alike(t, strings.Repeat(a+"\n", 3)+strings.Repeat(a+"\n"+b+"\n", 3))
	})
}
