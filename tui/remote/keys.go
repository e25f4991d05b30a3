package remote

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"charm.land/log/v2"
	gossh "golang.org/x/crypto/ssh"

	"newtop/trainer"
)

const (
	largestKeyFile = 1 << 20 // bytes
	fewWarnings    = 10      // lines of a file that are complained about one by one
)

// keyring is who may log in. Its files are read again when they have changed, so that keys can be added to a running
// server. Its methods may be called from any goroutine.
type keyring struct {
	mu    sync.Mutex
	files []*keyFile // in the order in which they are asked
	log   *log.Logger
	now   func() time.Time
}

// keyFile is a file of keys as it was last read.
type keyFile struct {
	path    string
	flag    string // that names it
	control bool   // whether its keys steer, whatever their lines say
	seen    os.FileInfo
	stable  bool // whether a file that looks the same is the same
	text    []byte
	lines   []*keyLine
	failure string // why it could not be read the last time
}

// find returns the line that lets a key in. The key's holder has yet to prove that they hold it.
func (r *keyring) find(pub gossh.PublicKey, addr netip.Addr) (*keyLine, error) {
	if reason := unfit(pub); reason != "" {
		return nil, errors.New(reason)
	}
	blob := pub.Marshal()
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	refused := errors.New("not an authorized key")
	var found *keyLine
	for _, f := range r.files {
		if err := f.refresh(r.log, now); err != nil {
			if text := err.Error(); text != f.failure {
				f.failure = text
				r.log.Error("nobody is let in by this file", "file", f.path, "why", text)
			}
			continue
		}
		f.failure = ""
		for _, k := range f.lines {
			if subtle.ConstantTimeCompare(k.blob, blob) == 0 || found != nil {
				continue
			}
			if err := k.admits(addr, now); err != nil {
				refused = err
				continue
			}
			found = k
		}
	}
	if found == nil {
		return nil, refused
	}
	return found, nil
}

// count reads all files and returns how many keys there are.
func (r *keyring) count() (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, f := range r.files {
		if err := f.refresh(r.log, r.now()); err != nil {
			expected := "a file of public keys that only you can change: "
			if errors.Is(err, fs.ErrNotExist) {
				expected = "a file of public keys, as ~/.ssh/id_ed25519.pub is one of your own: "
			}
			return 0, &trainer.ConfigError{Field: f.flag, Value: f.path, Expected: expected + err.Error()}
		}
		n += len(f.lines)
	}
	return n, nil
}

// name is what readers call the holder of a key: its comment, or else what the client calls itself. Where that says too
// little, since several keys have the comment or since anybody could call themselves so, some of the fingerprint
// follows.
func (r *keyring) name(k *keyLine, user string) string {
	name := clean(k.comment, longestName)
	sure := name != ""
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.files {
		for _, other := range f.lines {
			sure = sure && (clean(other.comment, longestName) != name || other.fingerprint == k.fingerprint)
		}
	}
	if sure {
		return name
	}
	or(&name, clean(user, longestName))
	return strings.TrimSpace(name + " " + shortFingerprint(k.fingerprint))
}

// shortFingerprint is the beginning of a fingerprint, enough to tell the keys of one server apart.
func shortFingerprint(s string) string {
	s = strings.TrimPrefix(s, "SHA256:")
	return s[:min(6, len(s))]
}

// refresh reads the file if it has changed. The permissions are looked at each time. A file that can't be read has no
// keys.
func (f *keyFile) refresh(logger *log.Logger, now time.Time) error {
	info, err := os.Stat(f.path)
	if err == nil {
		err = onlyOwnerWrites(f.path, info)
	}
	if err == nil && f.stable && os.SameFile(info, f.seen) && info.ModTime().Equal(f.seen.ModTime()) &&
		info.Size() == f.seen.Size() {
		return nil
	}
	var text []byte
	if err == nil {
		text, err = readBounded(f.path, largestKeyFile)
	}
	if err != nil {
		f.stable, f.text, f.lines = false, nil, nil
		return plainly(err)
	}
	// A second change within the tick of the file system's clock would look like none.
	f.seen, f.stable = info, now.Sub(info.ModTime()) > 2*time.Second
	if f.text != nil && bytes.Equal(f.text, text) {
		return nil
	}
	f.text = text
	bad := 0
	f.lines = parseKeys(f.path, string(text), f.control, func(line int, reason error) {
		if bad++; bad <= fewWarnings {
			logger.Warn("key left out", "line", fmt.Sprintf("%s:%d", f.path, line), "why", reason)
		}
	})
	if bad > fewWarnings {
		logger.Warn("keys left out", "file", f.path, "more", bad-fewWarnings)
	}
	return nil
}

// parseKeys reads the lines of a file. A bad line is reported and left out.
func parseKeys(file, text string, control bool, bad func(line int, reason error)) []*keyLine {
	var keys []*keyLine
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		k, err := parseKeyLine(line)
		if err != nil {
			bad(n, err)
			continue
		}
		k.position = fmt.Sprintf("%s:%d", file, n)
		k.control = k.control || control
		keys = append(keys, k)
	}
	return keys
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return text, err
}

// plainly leaves out the operation and the path, which the caller names.
func plainly(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
