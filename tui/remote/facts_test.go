package remote_test

import (
	"encoding/json"
	"fmt"
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
	session, err := s.dial(s.look).NewSession()
	if err != nil {
		s.Fatal(err)
	}
	out, err := session.Output("status --json")
	if err != nil {
		s.Fatal(err)
	}
	var facts map[string]any
	if err := json.Unmarshal(out, &facts); err != nil || len(facts) < 5 {
		s.Fatalf("status is %q: %v", out, err)
	}
}
