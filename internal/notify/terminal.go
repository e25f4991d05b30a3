package notify

import "strings"

// Bell is what rings a terminal.
const Bell = "\a"

// OSC9 returns what makes a terminal show a notification: iTerm2's sequence, which kitty, WezTerm, Ghostty, foot,
// ConEmu and Windows Terminal know too. Other terminals pass over it. tmux, which is known by TMUX in the environment,
// hands on only what is wrapped, where allow-passthrough is on.
func OSC9(text string, environ []string) string {
	const most = 200 // characters: terminals bound the length of a sequence
	text = oneLine(text)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	if text != "" && (text[0] >= '0' && text[0] <= '9') {
		text = "newtop: " + text // ConEmu takes a number for a command
	}
	sequence := "\x1b]9;" + text + Bell
	for _, v := range environ {
		if value, ok := strings.CutPrefix(v, "TMUX="); ok && value != "" {
			return "\x1bPtmux;" + strings.ReplaceAll(sequence, "\x1b", "\x1b\x1b") + "\x1b\\"
		}
	}
	return sequence
}
