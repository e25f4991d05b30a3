package machine

import (
	"math"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"newtop/internal/format"
	host "newtop/internal/machine"
	"newtop/tui/style"
)

// unknown stands for what is not told.
const unknown = "–"

// percent writes a share without decimals.
func percent(x float64) string {
	if math.IsNaN(x) {
		return unknown
	}
	return strconv.Itoa(int(math.Round(100*x))) + " %"
}

// The binary units that memory is made in.
const (
	mebi = 1 << 20
	gibi = 1 << 30
	tebi = 1 << 40
)

// unitOf is the unit that suits an amount of memory.
func unitOf(bytes float64) (scale float64, name string) {
	switch {
	case bytes >= 1000*gibi:
		return tebi, " TiB"
	case bytes >= 1000*mebi:
		return gibi, " GiB"
	}
	return mebi, " MiB"
}

func inUnit(bytes, scale float64) string {
	if math.IsNaN(bytes) {
		return unknown
	}
	if x := bytes / scale; x < 100 {
		return format.Tick(format.Round(format.Significant(x, 3), 1))
	}
	return strconv.FormatFloat(bytes/scale, 'f', 0, 64)
}

// Memory writes an amount of memory.
func Memory(bytes float64) string {
	scale, name := unitOf(bytes)
	return inUnit(bytes, scale) + name
}

// memoryOf writes an amount and the whole of it.
func memoryOf(used, total float64) string {
	if !(total > 0) {
		if used > 0 {
			return Memory(used)
		}
		return unknown
	}
	scale, name := unitOf(total)
	return inUnit(used, scale) + "/" + inUnit(total, scale) + name
}

// perSecond writes a rate of bytes.
func perSecond(x float64) string {
	if math.IsNaN(x) {
		return unknown
	}
	if x >= 1e9 {
		return format.Tick(format.Significant(x/1e9, 3)) + " GB/s"
	}
	return format.Bytes(int64(x)) + "/s"
}

// cores writes how many cores are busy.
func cores(x float64) string {
	if math.IsNaN(x) {
		return unknown
	}
	text := strconv.FormatFloat(x, 'f', 1, 64)
	if x >= 99.95 {
		text = strconv.FormatFloat(x, 'f', 0, 64)
	}
	if text == "1.0" {
		return "1 core"
	}
	return text + " cores"
}

// short is a name in at most n columns.
func short(name string, n int) string {
	return ansi.Truncate(strings.TrimSpace(style.Clean(name)), n, "…")
}

// full marks what is all but used up, by a sign and a colour.
func full(text string, share float64) style.Part {
	if share >= host.NearlyFull {
		return style.Warn.Of(text + " !")
	}
	return style.Text.Of(text)
}

// celsius writes a temperature, "" for none.
func celsius(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.Itoa(int(math.Round(x))) + " °C"
}

// watts writes what a GPU draws and may draw, "" where that is not told.
func watts(g *host.GPU) string {
	if math.IsNaN(g.Power) {
		return ""
	}
	text := strconv.Itoa(int(math.Round(g.Power)))
	if g.PowerLimit > 0 {
		text += "/" + strconv.Itoa(int(math.Round(g.PowerLimit)))
	}
	return text + " W"
}

// loadText writes a mean load.
func loadText(x float64) string {
	if math.IsNaN(x) {
		return unknown
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}

// gpuName names a GPU by its number.
func gpuName(g *host.GPU) string { return "gpu" + strconv.Itoa(g.Index) }
