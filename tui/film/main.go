// Film makes an animated SVG of what newtop record wrote: film FILE.cast FILE.svg SECONDS. It shows the last seconds of
// the session.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"newtop/internal/routine"
	"newtop/tui/render"
)

// between is the time between two frames.
const between = 400 * time.Millisecond

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal("film: ", err)
	}
}

func run(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("expected FILE.cast FILE.svg SECONDS")
	}
	seconds, err := strconv.ParseFloat(args[2], 64)
	if err != nil || !(seconds > 0) {
		return fmt.Errorf("%s: expected a number of seconds", args[2])
	}
	columns, frames, err := read(args[0])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	length := time.Duration(seconds * float64(time.Second))
	end := frames[len(frames)-1].At
	frames = slices.DeleteFunc(frames, func(f render.Still) bool { return f.At < end-length })
	first := frames[0].At
	for i := range frames {
		frames[i].At -= first
	}
	out, err := os.Create(args[1])
	if err != nil {
		return err
	}
	return errors.Join(render.WriteFilm(out, frames, frames[len(frames)-1].At+between, columns, true), out.Close())
}

// read plays a film of asciinema's second version and returns what its screen showed.
func read(file string) (columns int, frames []render.Still, err error) {
	in, err := os.Open(file)
	if err != nil {
		return 0, nil, err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	var header struct{ Width, Height int }
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &header) != nil || header.Width < 1 || header.Height < 1 {
		return 0, nil, fmt.Errorf("line 1: expected an asciicast's header")
	}
	screen := vt.NewEmulator(header.Width, header.Height)
	// answers to queries, which nobody waits for; it ends with the program
	routine.Go(func() { _, _ = io.Copy(io.Discard, screen) })
	next := between
	for n := 2; lines.Scan(); n++ {
		var event []any
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil || len(event) != 3 {
			return 0, nil, fmt.Errorf("line %d: expected [seconds, kind, text]", n)
		}
		at, _ := event[0].(float64)
		text, _ := event[2].(string)
		for ; time.Duration(at*float64(time.Second)) >= next; next += between {
			rows := strings.Split(screen.Render(), "\n")
			for len(rows) < header.Height {
				rows = append(rows, "")
			}
			frames = append(frames, render.Still{At: next, Rows: rows[:header.Height]})
		}
		if event[1] == "o" {
			if strings.Contains(text, ansi.ResetModeAltScreenSaveCursor) { // the screen is given back
				break
			}
			if _, err := screen.WriteString(text); err != nil {
				return 0, nil, err
			}
		}
	}
	if lines.Err() != nil || len(frames) == 0 {
		return 0, nil, fmt.Errorf("no frame in it: %v", lines.Err())
	}
	return header.Width, frames, nil
}
