package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual looks into the pages: one for each command, that tells its flags with their values and defaults.
func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	succeed(t, "man", dir)
	for name, wanted := range map[string][]string{
		"newtop":           {".TH NEWTOP 1 \"\" ", "newtop \\- A terminal lab", ".SH TRAIN\n", ".SH EXAMPLES\n", `newtop \-\-data letter \-\-data\-dir ../data`},
		"newtop-train":     {`\fB\-\-opt NAME\fP`, "(default tr\\-newton)", ".SH SEE ALSO\n\\fBnewtop\\fP(1)"},
		"newtop-runs":      {`\fBnewtop runs\fP [command]`},
		"newtop-runs-show": {`\fBnewtop\-runs\fP(1)`},
		"newtop-python":    {"\n.nf\n  import newtop\n"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wanted {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s.1 lacks %q:\n%.2000s", name, want, text)
			}
		}
	}
	pages, err := os.ReadDir(dir)
	if err != nil || len(pages) < 30 {
		t.Errorf("%d pages: %v", len(pages), err)
	}
}

func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		"--net 70-50":     `\-\-net 70\-50`,
		`%LocalAppData%\`: `%LocalAppData%\e`,
		".5 of all\n'x'":  "\\&.5 of all\n\\&'x'",
	} {
		if got := roff(text); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}
