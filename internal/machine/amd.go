package machine

import (
	"cmp"
	"math"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// card is one of AMD's GPUs in sysfs: card0/device with the files of the kernel's amdgpu, of which any may be missing.
type card struct {
	dir, sensors string // sensors: its hwmon directory; "": none
	name         string
	text         func(name string) string // what a file holds, "" where there is none
}

// openCards finds the cards of sysfs.
func openCards(sys string) (out []card) {
	dirs, _ := filepath.Glob(filepath.Join(sys, "class", "drm", "card*", "device"))
	slices.SortFunc(dirs, func(a, b string) int { // card10 after card9
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return cardsOf(dirs, readText, func(dir string) string {
		found, _ := filepath.Glob(filepath.Join(dir, "hwmon", "hwmon*"))
		return append(found, "")[0]
	})
}

// cardsOf are the cards among directories, of which text reads files and sensors finds the hwmon directory.
func cardsOf(dirs []string, text, sensors func(string) string) (out []card) {
	for _, dir := range dirs {
		at := func(name string) string { return text(path.Join(dir, name)) }
		if strings.Contains(path.Base(path.Dir(dir)), "-") { // a connector
			continue
		}
		if vendor := at("vendor"); vendor != "" && vendor != "0x1002" ||
			at("gpu_busy_percent") == "" && at("mem_info_vram_total") == "" {
			continue
		}
		name := cmp.Or(at("product_name"), strings.TrimSpace("AMD GPU "+strings.TrimPrefix(at("device"), "0x")))
		out = append(out, card{dir: dir, sensors: sensors(dir), name: name, text: text})
	}
	return out
}

// read reads a card as GPU number index.
func (c *card) read(index int) GPU {
	file := func(name string, scale float64) float64 { return number(c.text(path.Join(c.dir, name)), scale) }
	sensor := func(scale float64, names ...string) float64 {
		for _, name := range names {
			if c.sensors == "" {
				break
			}
			if x := number(c.text(path.Join(c.sensors, name)), scale); x == x {
				return x
			}
		}
		return math.NaN()
	}
	return GPU{
		Index: index, Name: c.name, Busy: told(file("gpu_busy_percent", 0.01), 1),
		MemoryUsed: file("mem_info_vram_used", 1), MemoryTotal: file("mem_info_vram_total", 1),
		Temperature: sensor(1e-3, "temp1_input"), Power: sensor(1e-6, "power1_average", "power1_input"),
		PowerLimit: sensor(1e-6, "power1_cap"), Clock: sensor(1, "freq1_input"),
	}
}

// told is a value from 0 to a greatest one, NaN for any other.
func told(x, most float64) float64 {
	if x >= 0 && x <= most {
		return x
	}
	return math.NaN()
}
