package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
	"newtop/tui/style"
)

// settleAll runs the writes that a key has asked for, and those that follow. The other commands of a key are
// the ends of notes, seconds later.
func settleAll(a *desk.App, cmd tea.Cmd) {
	got := make(chan tea.Msg, 16)
	run := func(c tea.Cmd) { go func() { got <- c() }() }
	for a.Prefs.Busy() {
		if cmd != nil {
			run(cmd)
		}
		cmd = nil
		switch msg := (<-got).(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				run(c)
			}
		case screen.StoredMsg:
			_, cmd = a.Update(msg)
		}
	}
}

func TestPreferencesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "ui.toml")
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path}, 80, 24)
	settleAll(a, press(a, "T"))
	if text, _ := os.ReadFile(path); strings.TrimSpace(string(text)) != "theme = 'dark'" {
		t.Errorf("the file has %q: more than what was changed", text)
	}
	settleAll(a, press(a, "T"))
	settleAll(a, press(a, "M"))
	again := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path}, 80, 24)
	if again.ThemeChoice != style.ThemeLight || !again.NoMouse || again.GlyphChoice != style.GlyphsAuto {
		t.Errorf("theme %v, no mouse %v, glyphs %v", again.ThemeChoice, again.NoMouse, again.GlyphChoice)
	}
	files, _ := os.ReadDir(filepath.Dir(path))
	if len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// TestChartHabits: the x axis that a chart was given is that of all charts of the next run; the smoothing is forgotten,
// also one that an older newtop has kept.
func TestChartHabits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ui.toml")
	if err := os.WriteFile(path, []byte("smoothing = '30'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := newTest(tuitest.Script{Epochs: 33}, screen.Options{Preferences: path}, 120, 40)
	for _, k := range []string{"z", "x", "m"} {
		a.View()
		settleAll(a, press(a, k))
	}
	if text := frameText(t, a); !strings.Contains(text, "smoothed, half-life 1 epoch") || strings.Contains(text, "preferences") {
		t.Errorf("key m, or the old file:\n%s", text)
	}
	if retained, err := os.ReadFile(path); err != nil || strings.Contains(string(retained), "smoothing") {
		t.Errorf("%v: kept is %s", err, retained)
	}
	again := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path}, 120, 40)
	for _, c := range charted(again) {
		if x := c.XAxis(); x != "seconds" {
			t.Errorf("x axis %q", x)
		}
	}
	if len(charted(again)) < 3 {
		t.Errorf("%d panes with charts", len(charted(again)))
	}
	if press(again, "z"); strings.Contains(frameText(t, again), "smoothed") {
		t.Error("the smoothing was kept")
	}
}

// TestSaveFormatIsKept: the format that a model was saved in is that of the next run's first offer.
func TestSaveFormatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ui.toml")
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path}, 120, 40)
	press(a, "w", "tab")
	settleAll(a, press(a, "enter"))
	again := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path, NoColor: true}, 120, 40)
	press(again, "w")
	if text := frameText(t, again); !strings.Contains(text, "letters-e3.onnx") {
		t.Errorf("offered is\n%s", text)
	}
	if err := os.WriteFile(path, []byte("save = 'pickle'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := screen.ReadPreferences(path); err == nil || !strings.Contains(err.Error(), "expected safetensors or onnx") {
		t.Errorf("an unknown format: %v", err)
	}
}

// TestFlagsWin: what an option says holds for one run and stays out of the file.
func TestFlagsWin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ui.toml")
	if err := os.WriteFile(path, []byte("theme = \"light\"\nglyphs = \"block\"\nmouse = true\nfuture = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path, Theme: style.ThemeMono, Glyphs: style.GlyphsAuto, NoMouse: true}, 80, 24)
	if a.ThemeChoice != style.ThemeMono || a.GlyphChoice != style.GlyphsAuto || !a.NoMouse {
		t.Errorf("theme %v, glyphs %v, no mouse %v", a.ThemeChoice, a.GlyphChoice, a.NoMouse)
	}
	a.SetGlyphs(a.GlyphChoice.Next())
	settleAll(a, a.Touched(a))
	text, _ := os.ReadFile(path)
	for _, want := range []string{"theme = 'light'", "glyphs = 'braille'", "mouse = true"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing:\n%s", want, text)
		}
	}
}

func TestBadPreferences(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"syntax": {"theme = light\n", "line 1: "},
		"type":   {"\nmouse = \"no\"\n", "line 2: "},
		"theme":  {"theme = \"pink\"\n", `theme "pink": expected one of auto`},
		"glyphs": {"glyphs = \"emoji\"\n", `glyphs "emoji": expected one of`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ui.toml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			a := newApp(&tuitest.Feed{}, screen.Options{Preferences: path}, tuitest.Methods())
			if len(a.H.Log.Entries) != 1 || !strings.Contains(a.H.Log.Entries[0].Text, c.says) || strings.Contains(a.H.Log.Entries[0].Text, "\n") {
				t.Errorf("the log has %+v", a.H.Log.Entries)
			}
			if a.ThemeChoice != style.ThemeAuto {
				t.Errorf("theme %v", a.ThemeChoice)
			}
			settleAll(a, press(a, "T"))
			if text, _ := os.ReadFile(path); string(text) != c.text {
				t.Errorf("the file was replaced by %q", text)
			}
		})
	}
}

// TestPreferencesCannotBeWritten: the log says so once, and nothing else happens.
func TestPreferencesCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{}, 80, 24)
	a.Prefs = screen.NewPreferenceStore(filepath.Join(file, "ui.toml"), screen.Preferences{})
	a.Prefs.Start((&choices{saves: &dialogs.Saves{}}).now(a))
	before := len(a.H.Log.Entries)
	for range 3 {
		settleAll(a, press(a, "M"))
	}
	if n := len(a.H.Log.Entries) - before; n != 1 {
		t.Errorf("%d lines in the log", n)
	}
}

// TestSettle: a program that ends while a write is under way has written the last choice.
func TestSettle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ui.toml")
	a := newTest(tuitest.Script{Epochs: 3}, screen.Options{Preferences: path}, 80, 24)
	press(a, "T", "T", "T")
	a.Prefs.Flush()
	if text, _ := os.ReadFile(path); string(text) != "theme = 'safe'\n" {
		t.Errorf("the file has %q", text)
	}
}
