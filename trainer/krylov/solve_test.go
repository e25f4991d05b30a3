package krylov

import (
	"strings"
	"testing"
)

func TestStopText(t *testing.T) {
	letters := map[byte]bool{}
	for _, s := range Stops() {
		text, err := s.MarshalText()
		var back Stop
		if err != nil || back.UnmarshalText(text) != nil || back != s {
			t.Errorf("%v: %q reads back as %v", s, text, back)
		}
		if s.Text() == "" || letters[s.Letter()] {
			t.Errorf("%v: words %q, letter %c", s, s.Text(), s.Letter())
		}
		letters[s.Letter()] = true
		if s.Failed() != (s == NotFinite) || s.Early() == (s == Residual) {
			t.Errorf("%v: failed %v, early %v", s, s.Failed(), s.Early())
		}
	}
	var running Stop
	if running.String() != "running" || running.Text() != "running" || running.Letter() != '.' || running.Early() || running.Failed() {
		t.Error("the zero value is not a running solve")
	}
	if err := running.UnmarshalText([]byte("tired")); err == nil || !strings.Contains(err.Error(), `"tired"`) {
		t.Errorf("an unknown name gives %v", err)
	}
	if err := running.UnmarshalText([]byte("running")); err != nil || running != 0 {
		t.Errorf("running reads back as %v, %v", running, err)
	}
}
