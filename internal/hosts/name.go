package hosts

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
)

// errColon says what a name with a colon may be that is no file of this machine.
var errColon = errors.New("expected a file here, or [USER@]HOST:PATH")

// Split takes a name apart that is HOST:PATH. remote is false for one without a host: without a colon, with a slash
// before it, or of a Windows drive. It returns an error for what has a host that no host is called, as one that begins
// with a dash, which ssh would take for an option.
func Split(name string) (host, at string, remote bool, err error) {
	end := strings.IndexByte(name, ':')
	if left, right := strings.IndexByte(name, '['), strings.Index(name, "]:"); left >= 0 && left < end && right > left {
		end = right + 1
	}
	switch {
	case end < 0 || strings.ContainsAny(name[:end], `/\`):
		return "", "", false, nil
	case end == 1 && (strings.HasPrefix(name[2:], `\`) || runtime.GOOS == "windows"):
		return "", "", false, nil
	case strings.HasPrefix(name[end:], "://"):
		return "", "", false, fmt.Errorf("%s: a URL: %w", name, errColon)
	}
	host, at = name[:end], name[end+1:]
	if err := Check(host); err != nil {
		return "", "", false, fmt.Errorf("%s: %w", name, err)
	}
	if at, err = below(at); err != nil {
		return "", "", false, fmt.Errorf("%s: %w", name, err)
	}
	return host, at, true, nil
}

// below writes a path as names of a Host have it: from / or from ~.
func below(at string) (string, error) {
	home, isHome := strings.CutPrefix(at, "~")
	switch {
	case strings.ContainsRune(at, 0):
		return "", errColon
	case strings.HasPrefix(at, "/"):
		return strings.TrimSuffix(path.Clean(at), "/"), nil
	case isHome && home != "" && home[0] != '/':
		return "", errors.New("the home of another user: expected a path from / or ~/")
	case isHome:
		at = home
	}
	at = path.Join("~", at)
	if at != "~" && !strings.HasPrefix(at, "~/") {
		return "", errors.New("above the home directory: expected a path from / or ~/")
	}
	return at, nil
}

// Check says what is wrong with the name of a host, which may have a user's before it: [USER@]HOST of letters, digits
// and . _ - +, of which neither begins with a dash, or an IPv6 address in brackets.
func Check(host string) error {
	user, rest, has := strings.Cut(host, "@")
	if !has {
		rest = host
	}
	address := strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]")
	switch {
	case has && !plain(user, "._-+"), !address && !plain(rest, "._-"),
		address && !plain(rest[1:len(rest)-1], ":.%"):
		return fmt.Errorf("no host is called %q: expected [USER@]HOST of letters, digits and . _ -, and no dash first",
			host)
	}
	return nil
}

// plain reports whether a word has letters, digits and some signs alone, and does not begin with a dash.
func plain(word, signs string) bool {
	return word != "" && word[0] != '-' && strings.IndexFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(signs, r))
	}) < 0
}

// destination is a host as ssh is given it.
func destination(host string) string { return strings.NewReplacer("[", "", "]", "").Replace(host) }

// quote writes a text as a POSIX shell reads it back.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
