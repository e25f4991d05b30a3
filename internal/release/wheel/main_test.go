package main

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestWheel looks into a wheel as pip does. That pip installs it is seen by .ci/nightly.
func TestWheel(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	dir := t.TempDir()
	binary := filepath.Join(dir, "binary")
	if err := os.WriteFile(binary, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, platform := range []string{"linux/amd64", "windows/arm64", "freebsd/amd64"} {
		if err := run("v1.2.3", platform, binary, dir); err != nil {
			t.Fatal(platform, err)
		}
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*.whl"))
	for i, name := range names {
		names[i] = filepath.Base(name)
	}
	want := []string{"newtop-1.2.3-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl", "newtop-1.2.3-py3-none-win_arm64.whl"}
	if !slices.Equal(names, want) {
		t.Fatalf("%q, expected %q", names, want)
	}
	path := filepath.Join(dir, names[0])
	first, _ := os.ReadFile(path)
	z, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	if err != nil {
		t.Fatal(err)
	}
	const about = "newtop-1.2.3.dist-info/"
	inside := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		inside[f.Name] = b.String()
		if command := f.Name == "newtop-1.2.3.data/scripts/newtop"; command != (f.Mode().Perm() == 0o755) {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
	for name, part := range map[string]string{
		"newtop.py":                        "def log(",
		"newtop-1.2.3.data/scripts/newtop": "a program",
		about + "METADATA":                 "\nVersion: 1.2.3\n",
		about + "WHEEL":                    "\nTag: py3-none-manylinux2014_x86_64\n",
		about + "licenses/LICENSE":         "MIT License",
		about + "licenses/THIRD_PARTY.md":  "gonum",
		about + "RECORD":                   "\nnewtop-1.2.3.data/scripts/newtop,sha256=1p6ozaJDNzPB",
	} {
		if !strings.Contains(inside[name], part) {
			t.Errorf("%s lacks %q: %.400q", name, part, inside[name])
		}
	}
	if n := strings.Count(inside[about+"RECORD"], "\n"); n != len(z.File) {
		t.Errorf("RECORD has %d lines for %d files", n, len(z.File))
	}
	if err := run("1.2.3", "linux/amd64", binary, dir); err != nil {
		t.Fatal(err)
	}
	if again, _ := os.ReadFile(path); !bytes.Equal(again, first) {
		t.Error("the same input made other bytes")
	}
}

func TestPythonVersion(t *testing.T) {
	for version, want := range map[string]string{"v1.2.3": "1.2.3", "1.2.3-rc.1": "1.2.3rc1", "1.2.3-rc2": "1.2.3rc2", "0.1.0-dev": "0.1.0.dev0", "1.2": "", "1.2.3-SNAPSHOT-abc": ""} {
		if got, err := pythonVersion(version); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v, expected %q", version, got, err, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	for _, args := range [][3]string{{"1.2.3", "plan9/amd64", "go.mod"}, {"1.2", "linux/amd64", "go.mod"}, {"1.2.3", "linux/amd64", "no-such-file"}} {
		if err := run(args[0], args[1], args[2], t.TempDir()); err == nil {
			t.Errorf("%q: expected an error", args)
		}
	}
}
