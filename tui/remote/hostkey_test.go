package remote

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	gossh "golang.org/x/crypto/ssh"

	"newtop/trainer"
)

func TestHostKeyIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, "host_ed25519")
	prints := make([]string, 20)
	var group sync.WaitGroup
	for i := range prints {
		group.Go(func() {
			s, err := hostKey(path)
			if err != nil {
				t.Error(err)
				return
			}
			prints[i] = gossh.FingerprintSHA256(s.PublicKey())
		})
	}
	group.Wait()
	for _, p := range prints {
		if p != prints[0] {
			t.Fatalf("servers that start at once have the keys %v", prints)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for path, want := range map[string]fs.FileMode{path: 0o600, dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; expected mode %o", path, info.Mode(), err, want)
		}
	}
}

func TestHostKeyInConfigurationDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("NEWTOP_CONFIG_DIR", dir)
	if _, err := hostKey(""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "host_ed25519")); err != nil {
		t.Error(err)
	}
}

func TestHostKeyRefused(t *testing.T) {
	dir := t.TempDir()
	copied := func(name string, mode os.FileMode) string {
		text, err := os.ReadFile(filepath.Join("testdata", "keys", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, text, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if s, err := hostKey(copied("ed25519", 0o600)); err != nil || gossh.FingerprintSHA256(s.PublicKey()) != edPrint {
		t.Errorf("ssh-keygen's key: %v", err)
	}
	cases := map[string]string{
		copied("rsa2048", 0o600):                            "type ssh-rsa",
		copied("locked", 0o600):                             "passphrase",
		copied("ed25519.pub", 0o600):                        "no private key",
		write(t, filepath.Join(dir, "empty"), ""):           "no private key",
		write(t, filepath.Join(dir, "file"), "x") + "/host": "not a directory",
		filepath.Join(dir):                                  "regular file",
		write(t, filepath.Join(dir, "huge"), strings.Repeat("x", largestHostKey+1)): "more than",
	}
	if runtime.GOOS != "windows" {
		path := write(t, filepath.Join(dir, "open"), publicKey(t, "ed25519"))
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
		cases[path] = "chmod 600"
	}
	for path, want := range cases {
		_, err := hostKey(path)
		var usage *trainer.ConfigError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; expected %q", filepath.Base(path), err, want)
		}
	}
}
