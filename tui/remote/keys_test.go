package remote

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"charm.land/log/v2"
	gossh "golang.org/x/crypto/ssh"

	"newtop/trainer"
)

var here = netip.MustParseAddr("127.0.0.1")

// line is a signer's line of a file of keys.
func line(s gossh.Signer, comment string) string {
	return strings.TrimSpace(string(gossh.MarshalAuthorizedKey(s.PublicKey()))) + " " + comment + "\n"
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newKeyring(journal *bytes.Buffer, files ...*keyFile) *keyring {
	return &keyring{files: files, log: log.New(journal), now: time.Now}
}

func TestKeyringIsReadAgain(t *testing.T) {
	ann, bob, cy := newSigner(t), newSigner(t), newSigner(t)
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "keys"), "# who may look\n\n"+line(ann, "ann")+"ssh-ed25519 rubbish\n"+line(bob, "bob"))
	var journal bytes.Buffer
	r := newKeyring(&journal, &keyFile{path: path})
	for _, s := range []gossh.Signer{ann, bob} {
		if _, err := r.find(s.PublicKey(), here); err != nil {
			t.Errorf("a key around a bad line: %v", err)
		}
	}
	if want := path + ":4"; !strings.Contains(journal.String(), want) {
		t.Errorf("the log does not name %s: %s", want, &journal)
	}
	if _, err := r.find(cy.PublicKey(), here); err == nil {
		t.Error("a key that is in no file is let in")
	}
	write(t, path, line(cy, "cy"))
	if _, err := r.find(cy.PublicKey(), here); err != nil {
		t.Errorf("a key that was added: %v", err)
	}
	if _, err := r.find(ann.PublicKey(), here); err == nil {
		t.Error("a key that was taken out is let in")
	}
	// Unchanged for long, the file is not read again.
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	r.find(cy.PublicKey(), here)
	before := r.files[0].lines[0]
	r.find(cy.PublicKey(), here)
	if r.files[0].lines[0] != before {
		t.Error("a file that has not changed was read again")
	}
	os.Remove(path)
	journal.Reset()
	for range 3 {
		if _, err := r.find(cy.PublicKey(), here); err == nil {
			t.Error("a key of a file that is gone is let in")
		}
	}
	if n := strings.Count(journal.String(), "nobody is let in"); n != 1 {
		t.Errorf("a file that is gone is logged %d times", n)
	}
	write(t, path, line(cy, "cy"))
	if _, err := r.find(cy.PublicKey(), here); err != nil {
		t.Errorf("a file that is back: %v", err)
	}
}

// Whoever watches with a key that is taken out, or may do less, does not watch for long; a look at a file that is just
// being written ends nothing.
func TestRecheck(t *testing.T) {
	ann := newSigner(t)
	path := filepath.Join(t.TempDir(), "keys")
	steers := `environment="NEWTOP_ROLE=control" ` + line(ann, "ann")
	for name, c := range map[string]struct {
		before, after string
		ends          bool
	}{
		"as it was":    {steers, "# more\n" + steers, false},
		"taken out":    {steers, "# nobody\n", true},
		"steers less":  {steers, line(ann, "ann"), true},
		"steers more":  {line(ann, "ann"), steers, false},
		"status alone": {steers, "restrict " + line(ann, "ann"), true},
		"expired":      {steers, `expiry-time="20200101" ` + line(ann, "ann"), true},
	} {
		r := newKeyring(&bytes.Buffer{}, &keyFile{path: write(t, path, c.before)})
		key, err := r.find(ann.PublicKey(), here)
		if err != nil {
			t.Fatal(err)
		}
		se := &session{server: &Server{keys: r, log: silent()}, client: &client{addr: here}, pub: ann.PublicKey(), key: key}
		se.ctx, se.end = context.WithCancelCause(t.Context())
		recheck := se.recheck()
		for _, text := range []string{c.before, "", c.before, c.after} {
			write(t, path, text)
			if recheck(); se.ctx.Err() != nil {
				t.Errorf("%s: one look ended it: %v", name, context.Cause(se.ctx))
			}
		}
		if recheck(); (se.ctx.Err() != nil) != c.ends {
			t.Errorf("%s: %v", name, context.Cause(se.ctx))
		}
	}
}

func TestKeyringOfTwo(t *testing.T) {
	ann, bob := newSigner(t), newSigner(t)
	dir := t.TempDir()
	r := newKeyring(&bytes.Buffer{},
		&keyFile{path: write(t, filepath.Join(dir, "control"), `from="10.0.0.1" `+line(ann, "ann")), control: true},
		&keyFile{path: write(t, filepath.Join(dir, "keys"), `expiry-time="20200101" `+line(ann, "old ann")+line(ann, "ann")+line(bob, "ann"))})
	if n, err := r.count(); n != 4 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	near, err := r.find(ann.PublicKey(), netip.MustParseAddr("10.0.0.1"))
	if err != nil || !near.control {
		t.Errorf("from where the control file allows: %+v, %v", near, err)
	}
	far, err := r.find(ann.PublicKey(), here)
	if err != nil || far.control || far.comment != "ann" {
		t.Errorf("from elsewhere, past a line that expired: %+v, %v", far, err)
	}
	k, err := r.find(bob.PublicKey(), here)
	if err != nil {
		t.Fatal(err)
	}
	// Two keys that are called ann are told apart, and one key is not from itself.
	if name := r.name(k, "root"); !strings.HasPrefix(name, "ann ") || len(name) != len("ann ")+6 {
		t.Errorf("named %q", name)
	}
	if name := r.name(&keyLine{fingerprint: edPrint, comment: "cy\x1b[2J\u200d\n"}, "root"); name != "cy[2J" {
		t.Errorf("named %q", name)
	}
	if name := r.name(&keyLine{fingerprint: edPrint}, "ann"); name != "ann tInOHJ" {
		t.Errorf("without a comment named %q", name)
	}
}

func TestStrictModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("permissions are not told by mode bits here")
	}
	ann := newSigner(t)
	for _, c := range []struct {
		name           string
		file, dir, top os.FileMode
		want           string
	}{
		{"mine", 0o644, 0o755, 0o755, ""},
		{"group writes the file", 0o664, 0o755, 0o755, "chmod go-w"},
		{"group writes the file in a closed directory", 0o664, 0o700, 0o700, "chmod go-w"},
		{"all write the file", 0o646, 0o755, 0o755, "chmod go-w"},
		{"group writes the directory", 0o600, 0o770, 0o755, "chmod go-w"},
		{"group writes the directory above", 0o600, 0o755, 0o775, "chmod go-w"},
		{"group writes a directory that it can't reach", 0o600, 0o770, 0o700, ""},
		{"a sticky directory", 0o600, 0o777 | os.ModeSticky, 0o755, ""},
	} {
		top := t.TempDir()
		dir := filepath.Join(top, "ssh")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		path := write(t, filepath.Join(dir, "keys"), line(ann, "ann"))
		link := filepath.Join(t.TempDir(), "link")
		err := errors.Join(os.Chmod(path, c.file), os.Chmod(dir, c.dir), os.Chmod(top, c.top), os.Chmod(filepath.Dir(top), 0o755), os.Symlink(path, link))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{path, link} {
			_, err := newKeyring(&bytes.Buffer{}, &keyFile{path: path, flag: "--authorized-keys"}).count()
			var usage *trainer.ConfigError
			if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}

func TestKeyFileBounds(t *testing.T) {
	dir := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"too long":    func(p string) error { return os.WriteFile(p, bytes.Repeat([]byte("#\n"), largestKeyFile/2+1), 0o600) },
		"a directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"missing":     func(string) error { return nil },
	} {
		path := filepath.Join(dir, name)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if _, err := newKeyring(&bytes.Buffer{}, &keyFile{path: path, flag: "--control"}).count(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var journal bytes.Buffer
	path := write(t, filepath.Join(dir, "rubbish"), strings.Repeat("rubbish\n", 1000))
	if n, err := newKeyring(&journal, &keyFile{path: path}).count(); n != 0 || err != nil {
		t.Errorf("%d keys, %v", n, err)
	}
	if lines := strings.Count(journal.String(), "\n"); lines != fewWarnings+1 {
		t.Errorf("%d lines in the log", lines)
	}
}
