package remote_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"newtop/trainer/event"
)

// status is the run's newest status.
func (s *stage) status() event.Status {
	s.Helper()
	feed := s.run.Feed()
	defer feed.Close()
	d, err := feed.Wait(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return d.Status
}

func (s *stage) epoch() int        { return s.status().Epoch }
func (s *stage) epochText() string { return fmt.Sprint(s.epoch()) }

// viewers counts those who look.
func (s *stage) viewers() int {
	if a := s.status().Audience; a != nil {
		return len(a.Viewers)
	}
	return 0
}

// empties waits until nobody looks any more.
func (s *stage) empties() {
	s.Helper()
	for deadline := time.Now().Add(patience); s.viewers() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Fatalf("%d viewers are left:\n%s", s.viewers(), s.log)
		}
	}
}

// alive asks the server for a line of status.
func (s *stage) alive() {
	s.Helper()
	var facts map[string]any
	if out, err := s.ask("status --json"); err != nil || json.Unmarshal(out, &facts) != nil || len(facts) < 5 {
		s.Fatalf("status is %q: %v", out, err)
	}
}

// ask has the server do a command.
func (s *stage) ask(command string) ([]byte, error) {
	s.Helper()
	client := s.dial(s.look)
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		s.Fatal(err)
	}
	return session.Output(command)
}

// begun waits until the server has heard of the run's beginning, which is after its data are prepared.
func (s *stage) begun(data string) {
	s.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		out, err := s.ask("status")
		if err != nil || time.Now().After(deadline) {
			s.Fatalf("status is %q, %v: expected one of %s", out, err, data)
		}
		if strings.HasPrefix(string(out), data+": ") {
			return
		}
	}
}
