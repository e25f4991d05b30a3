//go:build unix

package remote_test

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"newtop/trainer"
	"newtop/tui/remote"
)

// TestKilledClient kills a client's process without warning, in the middle of its screen.
func TestKilledClient(t *testing.T) {
	s := serve(t, remote.Options{})
	p := s.party(2, 80, 24)
	s.seen(2)
	p.Kill()
	s.empties()
	s.until("leave", ssh.FingerprintSHA256(s.look.PublicKey()))
	s.open(s.look, 80, 24).sees("spirals")
}

// TestStoppedClient stops a client's process, so that nothing that is sent to it is taken, nor a question answered.
func TestStoppedClient(t *testing.T) {
	s := train(t, trainer.Config{Data: "spirals", Hidden: []int{7}, Optimizer: "adam"}, remote.Options{Limits: remote.Limits{Stall: 500 * time.Millisecond}})
	c := s.open(s.steer, 80, 24)
	c.sees("spirals")
	p := s.party(1, 500, 200)
	s.seen(2)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	before := s.epoch()
	for deadline := time.Now().Add(patience); s.viewers() > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Skip("the system's buffers took all that was sent")
		}
	}
	if s.epoch() == before {
		t.Error("the run stood still")
	}
	c.press("T")
	c.sees("spirals")
}
