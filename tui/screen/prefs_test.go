package screen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPreferencesFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "/x/config")
	t.Setenv("NEWTOP_CONFIG_DIR", "")
	if got := PreferencesFile(); got != "/x/config/newtop/ui.toml" {
		t.Error(got)
	}
	t.Setenv("NEWTOP_CONFIG_DIR", "/y")
	if got := PreferencesFile(); got != "/y/ui.toml" {
		t.Error(got)
	}
}

func TestPreferencesTooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ui.toml")
	if err := os.WriteFile(path, make([]byte, maxPreferences+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPreferences(path); err == nil || !strings.HasSuffix(err.Error(), "expected choices of the screen") {
		t.Error(err)
	}
}
