package remote

import (
	"crypto/ed25519"
	"crypto/rand"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// The files in testdata/keys are ssh-keygen's (OpenSSH 9.2), and so is the fingerprint.
const edPrint = "SHA256:tInOHJxNuEutH2upib2H8Oq7qqPVFXZoCWbB1uaBLzw"

func newSigner(t testing.TB) gossh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := gossh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// publicKey is a line of ssh-keygen's.
func publicKey(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "keys", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

func TestKeyLine(t *testing.T) {
	ed := publicKey(t, "ed25519.pub")
	k, err := parseKeyLine(ed)
	if err != nil {
		t.Fatal(err)
	}
	if k.fingerprint != edPrint || k.comment != "ann@laptop" || k.control || k.noScreen || k.from != nil || !k.expires.IsZero() {
		t.Errorf("a plain line is %+v", k)
	}
	for _, c := range []struct {
		options string
		want    keyLine
	}{
		{`environment="NEWTOP_ROLE=control"`, keyLine{control: true}},
		{`environment="NEWTOP_ROLE=viewer"`, keyLine{}},
		{`environment="EDITOR=vi",Environment="NEWTOP_ROLE=control"`, keyLine{control: true}},
		{`restrict`, keyLine{noScreen: true}},
		{`no-pty`, keyLine{noScreen: true}},
		{`restrict,pty`, keyLine{}},
		{`restrict,command="status"`, keyLine{noScreen: true, command: "status"}},
		{`command="status --json"`, keyLine{command: "status --json"}},
		{`no-touch-required`, keyLine{untouched: true}},
		{`no-port-forwarding,no-X11-forwarding,no-agent-forwarding,no-user-rc,permitopen="host:1",tunnel="0"`, keyLine{}},
	} {
		k, err := parseKeyLine(c.options + " " + ed)
		if err != nil {
			t.Errorf("%s: %v", c.options, err)
			continue
		}
		if k.control != c.want.control || k.noScreen != c.want.noScreen || k.command != c.want.command || k.untouched != c.want.untouched {
			t.Errorf("%s: got %+v", c.options, k)
		}
	}
	for _, name := range []string{"ecdsa.pub", "rsa2048.pub"} {
		if _, err := parseKeyLine(publicKey(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A line that says less than that its key is let in must not let it in.
func TestKeyLineRefused(t *testing.T) {
	ed := publicKey(t, "ed25519.pub")
	for line, want := range map[string]string{
		publicKey(t, "dsa.pub"):                       "DSA",
		publicKey(t, "rsa1024.pub"):                   "1024 bits",
		publicKey(t, "ecdsa-cert.pub"):                "certificates",
		"cert-authority " + ed:                        "certificates",
		`cert-authority,principals="ann" ` + ed:       "certificates",
		`command="/usr/bin/borg serve" ` + ed:         "expected status",
		`command="" ` + ed:                            "expected status",
		`command="status",command="status" ` + ed:     "twice",
		`from="10.0.0.1",from="*" ` + ed:              "twice",
		"verify-required " + ed:                       "PIN",
		"no-such-option " + ed:                        "not known",
		`from="*.example.com" ` + ed:                  "names of hosts",
		`from="!evil.example.com,*" ` + ed:            "names of hosts",
		`from="10.0.0.7/8" ` + ed:                     "network",
		`from="" ` + ed:                               "names of hosts",
		`from="*,!::ffff:10.0.0.0/104" ` + ed:         "ADDRESS/BITS",
		`from="10.0.0.1,,10.0.0.2" ` + ed:             "names of hosts",
		`expiry-time="tomorrow" ` + ed:                "YYYYMMDD",
		`expiry-time="20261340" ` + ed:                "YYYYMMDD",
		`environment="NEWTOP_ROLE=root" ` + ed:        "NEWTOP_ROLE=control",
		`environment="NEWTOP_ROLE=control ` + ed:      "expected [options]",
		"ssh-ed25519":                                 "expected [options]",
		"ssh-ed25519 AAAA":                            "expected [options]",
		strings.Replace(ed, "ssh-ed", "ssh-rsa", 1):   "expected [options]",
		"restrict" + strings.TrimPrefix(ed, "ssh-ed"): "expected [options]",
	} {
		if k, err := parseKeyLine(line); err == nil {
			t.Errorf("%.60s: accepted as %+v", line, k)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60s: %v; expected %q", line, err, want)
		}
	}
}

// The cases of from= follow PATTERNS in ssh_config(5) and match_host_and_ip of sshd's.
func TestFrom(t *testing.T) {
	for _, c := range []struct {
		list, addr string
		want       bool
	}{
		{"10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.10", false},
		{"10.0.0.1", "::ffff:10.0.0.1", true},
		{"*,!::ffff:10.0.0.1", "10.0.0.1", false},
		{"10.0.0.0/8", "10.255.0.1", true},
		{"10.0.0.0/8", "11.0.0.1", false},
		{"10.0.0.*", "10.0.0.77", true},
		{"10.0.0.?", "10.0.0.77", false},
		{"10.*", "110.1.1.1", false},
		{"*", "fe80::1%eth0", true},
		{"!10.0.0.7,10.0.0.0/8", "10.0.0.7", false},
		{"10.0.0.0/8,!10.0.0.7", "10.0.0.7", false},
		{"10.0.0.0/8,!10.0.0.7", "10.0.0.8", true},
		{"!10.0.0.7", "10.0.0.8", false},
		{"fd00::/8", "fd12::1", true},
		{"FD00::*", "fd00::1", true},
		{"2001:db8::1", "2001:db8:0:0::1", true},
		{"10.0.0.0/8", "fd00::1", false},
		{" 10.0.0.1 , 10.0.0.2 ", "10.0.0.2", true},
	} {
		patterns, err := parseFrom(c.list)
		if err != nil {
			t.Errorf("%s: %v", c.list, err)
		} else if got := allows(patterns, netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("%s allows %s: %v", c.list, c.addr, got)
		}
	}
}

func TestExpiry(t *testing.T) {
	at := func(s string) time.Time {
		v, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for text, want := range map[string]time.Time{
		"20261122Z":       at("2026-11-22T00:00:00Z"),
		"202611221530Z":   at("2026-11-22T15:30:00Z"),
		"20261122153059Z": at("2026-11-22T15:30:59Z"),
		"202611221530":    time.Date(2026, 11, 22, 15, 30, 0, 0, time.Local),
	} {
		if got, err := parseExpiry(text); err != nil || !got.Equal(want) {
			t.Errorf("%s: %v, %v; expected %v", text, got, err, want)
		}
	}
	k := &keyLine{expires: at("2026-11-22T00:00:00Z"), position: "keys:3"}
	addr := netip.MustParseAddr("10.0.0.1")
	if err := k.admits(addr, at("2026-11-21T23:59:59Z")); err != nil {
		t.Error(err)
	}
	if err := k.admits(addr, at("2026-11-22T00:00:00Z")); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("at the time it expires: %v", err)
	}
}

// FuzzKeyLine holds that no line lets a key in that ssh's own parser does not find in it, and that what is refused gets
// one line.
func FuzzKeyLine(f *testing.F) {
	ed := publicKey(f, "ed25519.pub")
	for _, options := range []string{"", "restrict ", `from="10.0.0.0/8,!10.0.0.7" `, `environment="NEWTOP_ROLE=control",expiry-time="20300101Z" `,
		`command="a \"b\" c" `, "cert-authority ", `from="`, "\x00 ", ",,, "} {
		f.Add(options + ed)
	}
	f.Add(publicKey(f, "rsa1024.pub"))
	f.Add("ssh-ed25519 " + strings.Repeat("A", 5000))
	f.Fuzz(func(t *testing.T, line string) {
		if strings.ContainsAny(line, "\n") {
			return // lines hold none
		}
		k, err := parseKeyLine(line)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q", err)
			}
			return
		}
		pub, err := gossh.ParsePublicKey(k.blob)
		if err != nil || unfit(pub) != "" || gossh.FingerprintSHA256(pub) != k.fingerprint {
			t.Errorf("%q lets in %v, %v", line, pub, err)
		}
	})
}
