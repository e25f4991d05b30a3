package remote

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// weakestRSA is the fewest bits that an RSA key may have.
const weakestRSA = 2048

// keyLine is one line of a file of keys, in the format of sshd(8), "AUTHORIZED_KEYS FILE FORMAT".
type keyLine struct {
	blob        []byte // the key in its wire form
	fingerprint string
	comment     string
	position    string // file:line
	control     bool   // may steer
	noScreen    bool   // status only: no-pty or restrict
	untouched   bool   // a FIDO key that signs without being touched
	command     string // what is run whatever is asked for; empty: what is asked for
	from        []addressPattern
	expires     time.Time // zero: never
}

// harmless are the options that allow or forbid what is never served. They are compared in lower case.
var harmless = []string{
	"agent-forwarding", "no-agent-forwarding", "port-forwarding", "no-port-forwarding", "x11-forwarding",
	"no-x11-forwarding",
	"user-rc", "no-user-rc", "permitopen", "permitlisten", "tunnel",
}

// parseKeyLine reads a line that is neither empty nor a comment. An option that restricts a key in a way that is not
// known here is an error, so that no key can do more than its line says.
func parseKeyLine(text string) (*keyLine, error) {
	pub, comment, options, _, err := gossh.ParseAuthorizedKey([]byte(text))
	if err != nil {
		return nil, errors.New("expected [options] type base64 [comment], as in a .pub file of ssh-keygen")
	}
	if reason := unfit(pub); reason != "" {
		return nil, errors.New(reason)
	}
	k := &keyLine{blob: pub.Marshal(), fingerprint: gossh.FingerprintSHA256(pub), comment: comment}
	given := map[string]bool{}
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		name = strings.ToLower(name)
		if value, err = unquote(value); err == nil {
			err = k.option(name, value)
		}
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", clean(option, 60), err)
		}
		if given[name] && slices.Contains([]string{"from", "command", "expiry-time"}, name) {
			return nil, fmt.Errorf("option %s is given twice", name)
		}
		given[name] = true
	}
	return k, nil
}

// option takes one option, its name in lower case.
func (k *keyLine) option(name, value string) (err error) {
	switch name {
	case "environment":
		variable, role, _ := strings.Cut(value, "=")
		if variable != "NEWTOP_ROLE" {
			return nil // for a shell, and there is none
		}
		if role != "control" && role != "viewer" {
			return errors.New("expected NEWTOP_ROLE=control or NEWTOP_ROLE=viewer")
		}
		k.control = role == "control"
	case "from":
		k.from, err = parseFrom(value)
	case "expiry-time":
		k.expires, err = parseExpiry(value)
	case "command":
		if value != statusCommand && value != statusJSONCommand {
			return fmt.Errorf("expected %s or %s, no other command is served", statusCommand, statusJSONCommand)
		}
		k.command = value
	case "restrict", "no-pty":
		k.noScreen = true
	case "pty":
		k.noScreen = false
	case "no-touch-required":
		k.untouched = true
	case "cert-authority", "principals":
		return errors.New("certificates are not served")
	case "verify-required":
		return errors.New("a FIDO key's PIN can't be checked here")
	default:
		if !slices.Contains(harmless, name) {
			return errors.New("not known here, so the key is not let in")
		}
	}
	return err
}

// admits says whether the line lets its key in from an address at a time, and if not, why.
func (k *keyLine) admits(addr netip.Addr, now time.Time) error {
	if !k.expires.IsZero() && !now.Before(k.expires) {
		return fmt.Errorf("expired on %s (%s)", k.expires.Format(time.DateTime), k.position)
	}
	if k.from != nil && !allows(k.from, addr) {
		return fmt.Errorf("not from %s (%s)", addr, k.position)
	}
	return nil
}

// unfit says why a public key can't be used, or nothing.
func unfit(pub gossh.PublicKey) string {
	switch k := pub.(type) {
	case nil:
		return "there is no key"
	case *gossh.Certificate:
		return "certificates are not served; expected a plain public key"
	case gossh.CryptoPublicKey:
		if r, ok := k.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() < weakestRSA {
			return fmt.Sprintf("an RSA key of %d bits is weak; expected at least %d", r.N.BitLen(), weakestRSA)
		}
	}
	if pub.Type() == "ssh-dss" {
		return "DSA keys are weak; expected ed25519, ecdsa or rsa"
	}
	return ""
}

func unquote(s string) (string, error) {
	if s == "" || s[0] != '"' {
		return s, nil
	}
	if len(s) < 2 || s[len(s)-1] != '"' {
		return "", errors.New("a quote is missing")
	}
	return strings.ReplaceAll(s[1:len(s)-1], `\"`, `"`), nil
}

// parseExpiry reads YYYYMMDD[Z] or YYYYMMDDHHMM[SS][Z]: UTC with Z, else this machine's time.
func parseExpiry(s string) (time.Time, error) {
	digits, zone := s, time.Local
	if strings.HasSuffix(s, "Z") || strings.HasSuffix(s, "z") {
		digits, zone = s[:len(s)-1], time.UTC
	}
	if layout := "20060102150405"; len(digits) == 8 || len(digits) == 12 || len(digits) == 14 {
		if t, err := time.ParseInLocation(layout[:len(digits)], digits, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("expected YYYYMMDD[Z] or YYYYMMDDHHMM[SS][Z]")
}

// addressPattern is one of a from= list: a range of addresses, or one with * and ? in it.
type addressPattern struct {
	negated bool
	prefix  netip.Prefix
	glob    string // used if prefix is not valid
}

// parseFrom reads a list as in from="10.0.0.0/8,!10.0.0.7,fd00::*". Names of hosts are refused: whoever answers for the
// client's address could choose them, and an exception for a name that is not looked up would never hold.
func parseFrom(list string) ([]addressPattern, error) {
	patterns := []addressPattern{}
	for text := range strings.SplitSeq(list, ",") {
		text, negated := strings.CutPrefix(strings.TrimSpace(text), "!")
		p := addressPattern{negated: negated}
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			a = a.Unmap() // as clients' addresses are
			p.prefix = netip.PrefixFrom(a, a.BitLen())
		} else if strings.Contains(text, "/") {
			if p.prefix, err = netip.ParsePrefix(text); err != nil || p.prefix != p.prefix.Masked() ||
				p.prefix.Addr().Is4In6() {
				return nil, fmt.Errorf("expected ADDRESS/BITS of a network, not %q", clean(text, 40))
			}
		} else if text != "" && strings.Trim(text, "0123456789abcdefABCDEF.:*?") == "" {
			p.glob = strings.ToLower(text)
		} else {
			return nil, fmt.Errorf("expected addresses, not %q: names of hosts are not looked up", clean(text, 40))
		}
		patterns = append(patterns, p)
	}
	return patterns, nil
}

// allows says whether a pattern that is not negated matches the address and no negated one does.
func allows(patterns []addressPattern, addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	found := false
	for _, p := range patterns {
		matches := p.prefix.IsValid() && p.prefix.Contains(addr)
		if !p.prefix.IsValid() {
			matches, _ = path.Match(p.glob, addr.String()) // there is no / in an address: * is anything
		}
		if matches && p.negated {
			return false
		}
		found = found || matches
	}
	return found
}
