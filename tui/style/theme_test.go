package style

import (
	"fmt"
	"math"
	"regexp"
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// coloured finds an escape sequence of a colour.
var coloured = regexp.MustCompile(`\x1b\[[0-9;:]*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])[0-9;:]*m`)

// luminance is the relative luminance of WCAG 2.2 of a colour written #rrggbb.
func luminance(t *testing.T, hex string) float64 {
	var c [3]uint8
	if _, err := fmt.Sscanf(hex, "#%02x%02x%02x", &c[0], &c[1], &c[2]); err != nil {
		t.Fatalf("%q: %v", hex, err)
	}
	y := 0.0
	for i, w := range []float64{0.2126, 0.7152, 0.0722} {
		v := float64(c[i]) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		y += w * v
	}
	return y
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast measures whatever is read against the backgrounds of common terminals.
func TestContrast(t *testing.T) {
	dark := []string{"#000000", "#1e1e1e", "#002b36", "#282a36"} // xterm, VS Code, Solarized, Dracula
	light := []string{"#ffffff", "#fafafa", "#fdf6e3"}           // xterm, GNOME, Solarized
	for k := range tokenCount {
		if k == Border || k == Grid {
			continue // lines, not text
		}
		hues := map[string][2]string{"": {appearances[k].dark, appearances[k].light}}
		if safeHues[k][0] != "" {
			hues["safe "] = safeHues[k]
		}
		for name, h := range hues {
			for i, grounds := range [][]string{dark, light} {
				for _, ground := range grounds {
					if h[i] == "" {
						continue // the terminal's own foreground
					}
					if c := contrast(t, h[i], ground); c < 4.5 {
						t.Errorf("token %d, %s%s on %s: %.2f", k, name, h[i], ground, c)
					}
				}
			}
		}
	}
}

// TestThemesDiffer asks for every theme on every background and profile.
func TestThemesDiffer(t *testing.T) {
	for _, dark := range []bool{false, true} {
		seen := map[string]Theme{}
		for th := ThemeDark; th < ThemeCount; th++ {
			color := fmt.Sprint(th.Palette(dark, colorprofile.TrueColor, false).Codes)
			if was, ok := seen[color]; ok {
				t.Errorf("%v and %v look the same", was, th)
			}
			seen[color] = th
		}
		want := ThemeLight
		if dark {
			want = ThemeDark
		}
		if got := seen[fmt.Sprint(ThemeAuto.Palette(dark, colorprofile.TrueColor, false).Codes)]; got != want {
			t.Errorf("auto is %v", got)
		}
	}
	for th := range ThemeCount {
		for _, p := range []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI, colorprofile.ASCII, colorprofile.NoTTY} {
			for k, color := range th.Palette(true, p, true).Codes {
				if coloured.MatchString(color) {
					t.Errorf("%v: token %d has a colour without colours", th, k)
				}
			}
		}
	}
}

func TestParseNames(t *testing.T) {
	for th := range ThemeCount {
		if got, err := ParseTheme(th.String()); got != th || err != nil {
			t.Errorf("%v: %v, %v", th, got, err)
		}
	}
	for g := range GlyphsCount {
		if got, err := ParseGlyphs(g.String()); got != g || err != nil {
			t.Errorf("%v: %v, %v", g, got, err)
		}
	}
	if _, err := ParseTheme("pink"); err == nil || err.Error() != `theme "pink": expected one of auto, dark, light, safe, mono` {
		t.Error(err)
	}
	if _, err := ParseGlyphs("emoji"); err == nil {
		t.Error("emoji are a glyph set")
	}
}
