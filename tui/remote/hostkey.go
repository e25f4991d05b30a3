package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	gossh "golang.org/x/crypto/ssh"

	"newtop/internal/filelock"
	"newtop/trainer"
	"newtop/tui/screen"
)

const largestHostKey = 1 << 16 // bytes

// hostKey reads the private key that the server is known by, and makes it first if there is none. Of several servers
// that make it at once one wins, and all have its key.
func hostKey(path string) (gossh.Signer, error) {
	if path == "" {
		preferences := screen.PreferencesFile()
		if preferences == "" {
			return nil, &trainer.ConfigError{Field: "--host-key", Value: `""`,
				Expected: "a file, as there is no configuration directory"}
		}
		path = filepath.Join(filepath.Dir(preferences), "host_ed25519")
	}
	signer, err := readHostKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeHostKey(path); err == nil {
			signer, err = readHostKey(path)
		}
	}
	if err != nil {
		return nil, &trainer.ConfigError{Field: "--host-key", Value: path,
			Expected: "an ed25519 private key, or a place for one: " + plainly(err).Error()}
	}
	return signer, nil
}

func readHostKey(path string) (gossh.Signer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := onlyOwnerReads(path, info); err != nil {
		return nil, err
	}
	text, err := readBounded(path, largestHostKey)
	if err != nil {
		return nil, err
	}
	signer, err := gossh.ParsePrivateKey(text)
	var locked *gossh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, errors.New("it has a passphrase")
	case err != nil:
		return nil, errors.New("it is no private key that OpenSSH writes")
	case signer.PublicKey().Type() != gossh.KeyAlgoED25519:
		return nil, fmt.Errorf("it is of type %s", signer.PublicKey().Type())
	}
	return signer, nil
}

// makeHostKey puts a new key at path unless there is a file by then: a file that is complete is linked to that name.
func makeHostKey(path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := gossh.MarshalPrivateKey(private, "newtop")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temporary, err := filelock.TempFile(dir, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(pem.EncodeToMemory(block))
	if err == nil {
		err = temporary.Sync()
	}
	if err := errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	if os.Link(temporary.Name(), path) == nil {
		return nil
	}
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	return os.Rename(temporary.Name(), path) // without links two servers that start at once may end with two keys
}
