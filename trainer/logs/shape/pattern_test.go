package shape

import (
	"strings"
	"testing"
)

// TestPatterns reads lines as their user says, and the others by their shape.
func TestPatterns(t *testing.T) {
	for _, test := range []struct{ name, patterns, in, want string }{
		{"columns", "{step} {loss}", "1 0.5\n2   0.25\n  3\t0.125", "s1 loss=0.5\ns2 loss=0.25\ns3 loss=0.125"},
		{"commas", "{step},{loss},{}", "1,0.5,7\n1200, 0.25,8", "s1 loss=0.5\ns1200 loss=0.25"},
		{"thousands", "n {step}: {loss}", "n 1,200: 0.5", "s1200 loss=0.5"},
		{"within a line", "t {step} obj {f}", "at 10:00:00 t 4 obj nan, rate 3\nt 5 of 9", "s4 f=NaN"},
		{"behind a date", "{step} {loss}", "2026-11-28 10:00:00 INFO 7 0.5\n2026-11-28 10:00:01 INFO 8 0.4",
			"s7 loss=0.5\ns8 loss=0.4"},
		{"skipped words", "{} {step} {} {val_loss}%", "trn 3 x=9 12.5%", "s3 val_loss=12.5"},
		{"units", "{step}it {loss}", "3it 0.5", "s3 loss=0.5"},
		{"shares", "{step} {acc}", "3 93%", "s3 acc=0.93"},
		{"braces", "{{'k': {step}, 'v': {loss}}}", "{'k': 3, 'v': 0.5}", "s3 loss=0.5"},
		{"no blank by signs", "loss : {loss} , at {step}", "loss:0.5, at 3", "s3 loss=0.5"},
		{"lengths", "epoch {epoch} of {epochs} l={loss}", "epoch 3 of 9 l=0.5", "e3 loss=0.5"},
		{"a heading", "= {epoch} =\nscore {score}", "= 3 =\nscore 0.5\n= 4 =\nscore 0.25",
			"e3 score=0.5\ne4 score=0.25"},
		{"the first that fits", "a {step} {x}\na {} {y}", "a 1 2\na b 3", "s1 x=2\ns1 y=3"},
		{"ranks", "q {step} {loss}", "[rank1] q 1 5\n[rank0] q 1 0.5\n[rank1] q 2 5", "s1 loss=0.5"},
		{"a rank of its own", "[rank1] q {step} {loss}", "[rank1] q 1 5\n[rank0] q 1 0.5", "s1 loss=5"},
		{"a bar", "#{step} {loss}", "#1 3\r#1 2\r#1 1", "s1 loss=1"},
		{"others by shape", "zeta {step} {loss}", "step 1 loss 5\nzeta 2 4", "s1 loss=5\ns2 loss=4"},
		{"no word's middle", "s {step} {loss}", "xs 1 2\nx s 3 4", "s3 loss=4"},
		{"times that pass", "{elapsed}s {step} {loss}", "7.5s 3 4", "s3 loss=4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var o Options
			for text := range strings.SplitSeq(test.patterns, "\n") {
				p, err := ParsePattern(text)
				if err != nil {
					t.Fatal(err)
				}
				o.Patterns = append(o.Patterns, p)
			}
			p, r := New(), &recorder{}
			p.Configure(o)
			for line := range strings.SplitSeq(test.in, "\n") {
				if err := p.Line([]byte(line), r); err != nil {
					t.Error(err)
				}
			}
			p.Flush(r)
			if got := strings.Join(r.rows, "\n"); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestPatternErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":             "names of numbers in braces",
		"loss":         "names of numbers in braces",
		"a {} b":       "names of numbers in braces",
		"{step}{loss}": "a blank or a sign before {loss}",
		"{step} {loss": "} after {loss",
		"{step {loss}": "} after {step",
		"{step} loss}": "}} for the sign }",
		"{x} {x}":      "{x} once",
	} {
		if _, err := ParsePattern(text); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestSuggest(t *testing.T) {
	for line, want := range map[string]string{
		"1 0.5":                     "{step} {loss}",
		"1,0.5,7":                   "{step},{loss},{}",
		"0.5":                       "{loss}",
		"0.1  0.2":                  "{loss} {}",
		"loss 0.5":                  "",
		"":                          "",
		"2026-11-28 10:00:00 3 0.5": "{} {} {loss} {}",
	} {
		if got := Suggest([]byte(line)); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// FuzzPattern holds that no pattern and no line does any harm, and that what a pattern says it is is what it was given.
func FuzzPattern(f *testing.F) {
	f.Add("{step},{loss}", "1,2\n3,4")
	f.Add("a {x} {} b", "a 1 %% b\ra 2 3 b")
	f.Fuzz(func(t *testing.T, text, log string) {
		q, err := ParsePattern(text)
		if err != nil {
			return
		}
		p, r := New(), &recorder{}
		p.Configure(Options{Patterns: []*Pattern{q}})
		for line := range strings.SplitSeq(log, "\n") {
			p.Line([]byte(line), r)
		}
		p.Flush(r)
		if q.String() != text {
			t.Errorf("%q of %q", q, text)
		}
	})
}
