package dashboard

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/dashboard/replay"
)

// TestScreenListsTheKeys holds the tables of keys in docs/screen.md against the bindings.
func TestScreenListsTheKeys(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "screen.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, keys, ok := strings.Cut(string(text), "\n## Keys\n")
	if !ok {
		t.Fatal("docs/screen.md has no section of keys")
	}
	keys, _, _ = strings.Cut(keys, "\n## ")
	live, watched, ok := strings.Cut(keys, "newtop watch")
	if !ok {
		t.Fatal("docs/screen.md does not tell the keys of watched runs")
	}
	for _, b := range bindings(&dialogs.Saves{}, &replay.Bar{}) {
		table := live
		if b.Group == desk.GroupReplay {
			table = watched
		}
		for _, k := range strings.Fields(b.Show) {
			switch k {
			case "←↑→↓":
				k = "arrows"
			case "1…9":
				k = "`1` … `9`"
			case "ctrl+z":
				continue // as everywhere
			default:
				k = "`" + k + "`"
			}
			if !strings.Contains(table, k) {
				t.Errorf("%s (%s) is missing", k, b.Help)
			}
		}
	}
}
