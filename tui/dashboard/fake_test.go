package dashboard

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"newtop/tui/dashboard/desk"
	"newtop/tui/dashboard/dialogs"
	"newtop/tui/dashboard/replay"
	"newtop/tui/internal/tuitest"
	"newtop/tui/screen"
)

// TestMain runs the UI on a made-up run instead of the tests when NEWTOP_TUI_DEMO names one, so that it
// can be looked at: NEWTOP_TUI_DEMO=running,40 go test ./tui
func TestMain(m *testing.M) {
	demo := os.Getenv("NEWTOP_TUI_DEMO")
	if demo == "" {
		os.Exit(m.Run())
	}
	if name, ok := strings.CutPrefix(demo, "watch-"); ok {
		if err := runReplayDemo(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	epochs := 40
	if n, err := strconv.Atoi(os.Getenv("NEWTOP_TUI_EPOCHS")); err == nil {
		epochs = n
	}
	s := tuitest.Script{Epochs: epochs, Fate: demo, Spectra: true, Skips: os.Getenv("NEWTOP_TUI_SKIPS") != ""}
	if n, err := strconv.Atoi(os.Getenv("NEWTOP_TUI_SWITCH")); err == nil {
		s.SwitchAt = n
	}
	s.Regression = os.Getenv("NEWTOP_TUI_REGRESSION") != ""
	f := &tuitest.Feed{Deltas: tuitest.NewRun(s)}
	if demo == "edge" {
		f.Deltas = tuitest.EdgeRun("0.11")
	}
	if os.Getenv("NEWTOP_TUI_PACE") != "" {
		f.Pace = 40 * time.Millisecond
	}
	if err := Run(context.Background(), f, screen.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func savesOf(a *desk.App) *dialogs.Saves { return a.Observers[0].(*dialogs.Saves) }

func barOf(a *desk.App) *replay.Bar { return a.Bar.(*replay.Bar) }
