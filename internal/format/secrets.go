package format

import "regexp"

// Hidden stands for a secret in what is recorded or printed.
const Hidden = "***"

// secrets are the parts of a command line that nobody else should read: the value of an option or a variable that is
// called as secrets are, as QuoteAll writes it, the user of an address, and where a webhook's key is.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`(?i)((?:^|\s)'-{0,2}` + secretNames + `=)(?:[^']|'\\'')*()`),
	regexp.MustCompile(`(?i)((?:^|[\s'"])-{0,2}` + secretNames + `(?:=|\s+))(?:'(?:[^']|'\\'')*'|"[^"]*"|[^\s'"]+)()`),
	regexp.MustCompile(`(\w://)[^\s'"/@]+(@)`),
	regexp.MustCompile(`(webhook=\w*:?/{0,2}[^\s'"/?#]*).*?(['"]|\s|$)`),
}

const secretNames = `(?:[\w-]*(?:passw(?:or)?d|passphrase|secret|api[-_]?key|credentials?)|` +
	`(?:[\w-]*(?:access|auth|api|bearer|hf|hub)[-_]?)?token)`

// Masked returns a command line, or a part of one, with Hidden for what is secret in it.
func Masked(text string) string {
	for _, s := range secrets {
		text = s.ReplaceAllString(text, "${1}"+Hidden+"${2}")
	}
	return text
}
