package logs

import (
	"strings"
	"testing"
)

func FuzzYAML(f *testing.F) {
	for _, text := range []string{"run_name: 'it''s'\nstatus: 3\n", "a: \"b\\n\"\n", ":\n", "a", "  a: b\n", "a:\n  b:\n    c: 1\n d: 2\n", "end_time: null", "a: '", "a: \"", "\x00: 0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		YAML(text, func(key, value string, _ bool) {
			if key == "" || strings.Contains(key, "\n") || len(value) > 3*len(text) {
				t.Errorf("%q: %q", key, value)
			}
		})
	})
}
