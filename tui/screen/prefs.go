package screen

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/pelletier/go-toml/v2"

	"newtop/internal/atomicfile"
	"newtop/tui/style"
)

// Preferences are what a user has chosen for good. An empty field is a choice never made.
type Preferences struct {
	Theme  string `toml:"theme,omitempty"`
	Glyphs string `toml:"glyphs,omitempty"`
	Mouse  *bool  `toml:"mouse,omitempty"`
	// Accuracy has screens show accuracies and not errors; unset: as a log has them, and errors of newtop's own runs.
	Accuracy *bool  `toml:"accuracy,omitempty"`
	XAxis    string `toml:"x-axis,omitempty"`
	Charts   string `toml:"charts,omitempty"` // columns x rows of the grid of metrics, 0 for as many as fit
	View     string `toml:"view,omitempty"`   // of several runs: groups, x, order and metrics
	Save     string `toml:"save,omitempty"`   // the format that models are saved in
	// RunColumns are the columns of the list of runs, RunSort is what that is sorted by, behind a minus the other way
	// round.
	RunColumns string `toml:"run-columns,omitempty"`
	RunSort    string `toml:"run-sort,omitempty"`
}

// PreferencesFile returns where a user's choices are kept: ui.toml in NEWTOP_CONFIG_DIR, or in the directory
// newtop of the user's configuration; "" if there is none.
func PreferencesFile() string {
	dir := os.Getenv("NEWTOP_CONFIG_DIR")
	if dir == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(base, "newtop")
	}
	return filepath.Join(dir, "ui.toml")
}

const maxPreferences = 1 << 20 // bytes

// ReadPreferences reads a file; one that does not exist holds no choices.
func ReadPreferences(path string) (p Preferences, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxPreferences+1))
	if err != nil {
		return p, err
	}
	if len(text) > maxPreferences {
		return p, fmt.Errorf("%s: more than %d bytes: expected choices of the screen", path, maxPreferences)
	}
	if err := toml.Unmarshal(text, &p); err != nil {
		return Preferences{}, fmt.Errorf("%s: %s", path, firstLine(err))
	}
	if _, err := style.ParseTheme(p.Theme); err != nil {
		return Preferences{}, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := style.ParseGlyphs(p.Glyphs); err != nil {
		return Preferences{}, fmt.Errorf("%s: %w", path, err)
	}
	if p.Save != "" && !slices.ContainsFunc(SaveFormats[:], func(f SaveFormat) bool { return f.Name == p.Save }) {
		return Preferences{}, fmt.Errorf("%s: save %q: expected safetensors or onnx", path, p.Save)
	}
	return p, nil
}

// firstLine says where a file is wrong, if that is known, and how.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	var at *toml.DecodeError
	if errors.As(err, &at) {
		row, _ := at.Position()
		return fmt.Sprintf("line %d: %s", row, strings.TrimPrefix(text, "toml: "))
	}
	return text
}

// Write replaces the file as a whole, so that another newtop never reads half of it.
func (p Preferences) Write(path string) error {
	text, err := toml.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
		return nil
	}
	_, err = atomicfile.Write(path, func(w io.Writer) error { _, err := w.Write(text); return err })
	return err
}

// PreferenceStore decides what goes into the file and when. Only what was changed on the screen does: what a flag
// says holds for one run.
type PreferenceStore struct {
	path   string      // "" keeps nothing
	stored Preferences // what the file holds, or will when all is written
	last   Preferences // how the screen looked when it was last asked
	dirty  bool        // stored is not written yet
	busy   bool        // a write is under way
}

// NewPreferenceStore returns the store of a file that holds some choices.
func NewPreferenceStore(path string, stored Preferences) PreferenceStore {
	return PreferenceStore{path: path, stored: stored}
}

// Busy reports whether a write is under way.
func (k *PreferenceStore) Busy() bool { return k.busy }

// StoredMsg says how a write of the file ended.
type StoredMsg struct{ err error }

// Start takes the choices that the screen shows at first: they are no changes.
func (k *PreferenceStore) Start(now Preferences) { k.last = now }

// Last are the choices that the screen showed when it was last asked, Stored those of the file.
func (k *PreferenceStore) Last() Preferences { return k.last }

// Stored are the preferences as the file has them.
func (k *PreferenceStore) Stored() Preferences { return k.stored }

// Notice compares the screen with what it was, and returns the command that writes a change. One write is
// under way at a time: two could end in the wrong order.
func (k *PreferenceStore) Notice(now Preferences) tea.Cmd {
	if k.path == "" {
		return nil
	}
	k.dirty = storeChange(&k.stored.Theme, k.last.Theme, now.Theme) || k.dirty
	k.dirty = storeChange(&k.stored.Glyphs, k.last.Glyphs, now.Glyphs) || k.dirty
	k.dirty = storeChange(&k.stored.XAxis, k.last.XAxis, now.XAxis) || k.dirty
	k.dirty = storeChange(&k.stored.Charts, k.last.Charts, now.Charts) || k.dirty
	k.dirty = storeChange(&k.stored.View, k.last.View, now.View) || k.dirty
	k.dirty = storeChange(&k.stored.Save, k.last.Save, now.Save) || k.dirty
	k.dirty = storeChange(&k.stored.RunColumns, k.last.RunColumns, now.RunColumns) || k.dirty
	k.dirty = storeChange(&k.stored.RunSort, k.last.RunSort, now.RunSort) || k.dirty
	if now.Mouse != nil && k.last.Mouse != nil && *now.Mouse != *k.last.Mouse {
		k.stored.Mouse, k.dirty = now.Mouse, true
	}
	if a, b := now.Accuracy, k.last.Accuracy; a != b && (a == nil || b == nil || *a != *b) {
		k.stored.Accuracy, k.dirty = a, true
	}
	k.last = now
	return k.next()
}

func storeChange(stored *string, last, now string) bool {
	if last == now {
		return false
	}
	*stored = now
	return true
}

func (k *PreferenceStore) next() tea.Cmd {
	if !k.dirty || k.busy {
		return nil
	}
	k.dirty, k.busy = false, true
	p, path := k.stored, k.path
	return func() tea.Msg { return StoredMsg{p.Write(path)} }
}

// Written follows the end of a write, and returns the command of the next one. After an error nothing is written any
// more: once is enough to know.
func (k *PreferenceStore) Written(msg StoredMsg) (tea.Cmd, error) {
	k.busy = false
	if msg.err != nil {
		k.path = ""
		return nil, msg.err
	}
	return k.next(), nil
}

// Flush writes what the program's end left unwritten.
func (k *PreferenceStore) Flush() {
	if k.path != "" && (k.dirty || k.busy) {
		// The program has ended, so that nobody could read of an error here.
		_ = k.stored.Write(k.path)
	}
}

// SaveFormat is a format of saved models: its name, what it is for and a line about it.
type SaveFormat struct{ Name, Use, About string }

// SaveFormats are the formats that a model leaves in, by extension, and what each is for.
var SaveFormats = [...]SaveFormat{
	{"safetensors", "for newtop predict, PyTorch and NumPy", "all digits"},
	{"onnx", "for any ONNX runtime", "single precision, scaling inside"},
}

// ParameterFormats are those that a model leaves in which another program has.
var ParameterFormats = [...]SaveFormat{{"safetensors", "the parameters under their own names",
	"the program loads them"}}
