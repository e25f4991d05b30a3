package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
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
	stored := func(name string, block *pem.Block, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return write(t, filepath.Join(dir, name), string(pem.EncodeToMemory(block)))
	}
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	wide, err := rsa.GenerateKey(rand.Reader, weakestRSA)
	if err != nil {
		t.Fatal(err)
	}
	other, err := gossh.MarshalPrivateKey(wide, "")
	rsaKey := stored("rsa", other, err)
	locked, err := gossh.MarshalPrivateKeyWithPassphrase(ed, "", []byte("passphrase"))
	lockedKey := stored("locked", locked, err)
	cases := map[string]string{
		rsaKey:    "type ssh-rsa",
		lockedKey: "passphrase",
		write(t, filepath.Join(dir, "ed25519.pub"), publicKey(t, "ed25519.pub")): "no private key",
		write(t, filepath.Join(dir, "empty"), ""):                                "no private key",
		write(t, filepath.Join(dir, "file"), "x") + "/host":                      "not a directory",
		filepath.Join(dir): "regular file",
		write(t, filepath.Join(dir, "huge"), strings.Repeat("x", largestHostKey+1)): "more than",
	}
	if runtime.GOOS != "windows" {
		path := write(t, filepath.Join(dir, "open"), publicKey(t, "ed25519.pub"))
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
