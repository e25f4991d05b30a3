package desk

import (
	"testing"

	"newtop/trainer/event"
	"newtop/tui/screen"
)

// TestWhoControls in words.
func TestWhoControls(t *testing.T) {
	v := func(name string, control bool) event.Viewer { return event.Viewer{Name: name, Control: control} }
	for _, c := range []struct {
		you     screen.Viewer
		viewers []event.Viewer
		want    string
	}{
		{screen.Viewer{Name: "lou"}, []event.Viewer{v("lou", false)}, ""},
		{screen.Viewer{Name: "lou"}, []event.Viewer{v("lou", false), v("ann", true)}, " · ann controls"},
		{screen.Viewer{Name: "ann", Control: true}, []event.Viewer{v("ann", true)}, " · you control"},
		{screen.Viewer{Name: "ann", Control: true}, []event.Viewer{v("bob", true), v("ann", true)}, " · you, bob control"},
		{screen.Viewer{Name: "lou"}, []event.Viewer{v("ann", true), v("bob", true)}, " · ann, bob control"},
		{screen.Viewer{Name: "lou"}, []event.Viewer{v("annabella winterbottom", true), v("bob the builder", true)}, " · 2 control"},
		{screen.Viewer{Name: "lou"}, []event.Viewer{v("an\x1b[31mn", true)}, " · an[31mn controls"},
	} {
		a := &App{viewing: viewing{Viewer: &c.you}}
		if got := inControl(a, &event.Audience{Viewers: c.viewers}, 24); got != c.want {
			t.Errorf("%+v: %q, expected %q", c.viewers, got, c.want)
		}
	}
}

// TestUnreadLine: the header does not say the source's name twice, which may be long.
func TestUnreadLine(t *testing.T) {
	for _, c := range [][3]string{
		{"a.jsonl", "a.jsonl:17: \"x\": expected a JSON object", "line 17: \"x\": expected a JSON object"},
		{"a.jsonl", "a.jsonl: byte 12: too long", "a.jsonl: byte 12: too long"},
		{"logs", "logs/events.1: byte 90: wrong checksum", "logs/events.1: byte 90: wrong checksum"},
	} {
		if got := unread(&event.Replay{Source: c[0], Warning: c[1]}); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
}
