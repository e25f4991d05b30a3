package screen

import "testing"

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
