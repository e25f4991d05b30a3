package routine

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// ways are how goroutines start.
var ways = map[string]func(f func()){
	"goroutine": Go,
	"group": func(f func()) {
		var w sync.WaitGroup
		w.Go(Guard(f))
	},
	"timer": func(f func()) { time.AfterFunc(0, Guard(f)) },
}

func TestMain(m *testing.M) {
	start, ok := ways[os.Getenv("NEWTOP_TEST_PANIC")]
	if !ok {
		os.Exit(m.Run())
	}
	OnPanic(func() { panic("a terminal that is gone") })
	defer OnPanic(func() { os.Stderr.WriteString("no screen any more\n") })()
	OnPanic(func() { os.Stderr.WriteString("restored\n") })
	start(func() { panic("broke") })
	select {}
}

// A panic gives the terminals back first, and then ends the process with the stack of what broke.
func TestPanicRestoresTerminals(t *testing.T) {
	for way := range ways {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "NEWTOP_TEST_PANIC="+way)
		text, err := cmd.CombinedOutput()
		lines := strings.Split(string(text), "\n")
		restored := slices.Index(lines, "restored")
		said := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "panic: broke") })
		if err == nil || restored < 0 || said < restored || !strings.Contains(string(text), "TestMain.func") {
			t.Errorf("%s: %v\n%s", way, err, text)
		}
	}
}

// What ends well or is forgotten restores nothing.
func TestNoPanicRestoresNothing(t *testing.T) {
	restored := 0
	stop := OnPanic(func() { restored++ })
	Guard(func() {})()
	stop()
	Restore()
	if restored != 0 {
		t.Errorf("restored %d times", restored)
	}
}
