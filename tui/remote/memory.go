package remote

import (
	"runtime/debug"
	"sync"
	"time"

	"newtop/internal/routine"
)

// memory gives the system back what viewers took, once the last one has left: Go would keep it for many minutes, beside
// the trainer. It collects all garbage, so that it waits for a moment in which others may come, and rests between two
// times.
type memory struct {
	gate *gate
	free func()

	mu    sync.Mutex
	timer *time.Timer
	last  time.Time
}

const (
	givenAfter = 2 * time.Second
	givenEvery = 30 * time.Second
)

func newMemory(g *gate) *memory { return &memory{gate: g, free: debug.FreeOSMemory} }

// give is called when a viewer has left.
func (m *memory) give() {
	if m.gate.sitting() > 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := max(givenAfter, givenEvery-time.Since(m.last))
	if m.timer == nil {
		m.timer = time.AfterFunc(wait, routine.Guard(m.given))
	} else {
		m.timer.Reset(wait)
	}
}

func (m *memory) given() {
	if m.gate.sitting() > 0 {
		return
	}
	m.mu.Lock()
	m.last = time.Now()
	m.mu.Unlock()
	m.free()
}

// close ends the wait.
func (m *memory) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
}
