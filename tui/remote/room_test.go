package remote

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// told is a run that keeps what it was told.
type told struct {
	mu  sync.Mutex
	all []*event.Audience
}

func (t *told) Feed() feed.Feed { return nil }

func (t *told) SetAudience(a *event.Audience) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, a)
}

func (t *told) last() *event.Audience {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[len(t.all)-1]
}

func (t *told) times() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.all)
}

// TestRoomOfThousands: many come and go in a second, the run is told a few times, and the last word is the truth.
func TestRoomOfThousands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := &told{}
		r := newRoom(run)
		for i := range 1000 {
			leave := r.join(event.Viewer{Name: fmt.Sprint(i)})
			time.Sleep(time.Millisecond)
			if i%2 == 0 {
				leave()
			}
			r.did(event.Action{By: "ann", What: "pause"})
		}
		time.Sleep(time.Second)
		if n := run.times(); n > 7 {
			t.Errorf("told %d times in a second", n)
		}
		last := run.last()
		if len(last.Viewers) != 500 || last.Viewers[0].Name != "1" || last.Viewers[499].Name != "999" {
			t.Errorf("%d viewers", len(last.Viewers))
		}
		if n := len(last.Actions); n != maxActions || last.Actions[n-1].Number != 1000 || last.Actions[0].Number != 1000-maxActions+1 {
			t.Errorf("%d deeds, the last is number %d", n, last.Actions[n-1].Number)
		}
		r.did(event.Action{What: "the last"})
		r.close()
		if d := run.last().Actions; d[len(d)-1].What != "the last" {
			t.Errorf("the last word is %q", d[len(d)-1].What)
		}
	})
}

// TestRoomOfStrangers has everybody act at once, for the race detector; what was told does not change afterwards.
func TestRoomOfStrangers(t *testing.T) {
	run := &told{}
	r := newRoom(run)
	first := r.audience()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			leave := r.join(event.Viewer{Name: fmt.Sprint(i)})
			for range 50 {
				r.did(event.Action{By: fmt.Sprint(i)})
				a := r.audience()
				if !slices.IsSortedFunc(a.Actions, func(x, y event.Action) int { return x.Number - y.Number }) {
					t.Error("deeds out of order")
				}
			}
			leave()
		})
	}
	all.Wait()
	r.close()
	if a := run.last(); len(a.Viewers) != 0 || a.Actions[len(a.Actions)-1].Number != 1000 || len(first.Viewers) != 0 {
		t.Errorf("%d viewers in the end", len(a.Viewers))
	}
}

// TestTwoScreensOfOneRun: a viewer and one who steers are told of the same epochs, and of what was done.
func TestTwoScreensOfOneRun(t *testing.T) {
	s, err := trainer.New(trainer.Config{Data: "spirals", Optimizer: "adam", Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := newRoom(s)
	ann := event.Viewer{Name: "ann", Key: "SHA256:a", Control: true}
	lou := event.Viewer{Name: "lou", Key: "SHA256:b"}
	feeds := map[string]*steered{}
	for _, v := range []event.Viewer{ann, lou} {
		f := &steered{Feed: s.Feed(), viewer: v, room: r, log: silent()}
		defer f.Close()
		defer r.join(v)()
		feeds[v.Name] = f
	}
	ctx, ended := t.Context(), make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	if err := feeds["lou"].Do(ctx, event.Stop{}); err != feed.ErrReadOnly {
		t.Errorf("a viewer's stop: %v", err)
	}
	if err := feeds["ann"].Do(ctx, event.Set{Key: "rate", Value: "-1"}); err == nil {
		t.Error("a rate of -1 was taken")
	}
	told := map[string][]event.EpochEvent{}
	take := func(name string) feed.Delta {
		d, err := feeds[name].Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		told[name] = append(told[name], d.Epochs...)
		return d
	}
	for len(told["ann"]) == 0 {
		take("ann")
	}
	if err := feeds["ann"].Do(ctx, event.Stop{}); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	r.close()
	for name := range feeds {
		for d := (feed.Delta{}); d.Done == nil; {
			d = take(name)
			if a := d.Status.Audience; d.Done != nil && (a == nil || len(a.Viewers) != 2 || len(a.Actions) != 2 || a.Actions[0].Refused == "" || a.Actions[0].What != "set rate -1") {
				t.Errorf("%s: the audience is %+v", name, a)
			}
		}
	}
	if fmt.Sprint(told["ann"]) != fmt.Sprint(told["lou"]) {
		t.Errorf("%d epochs and %d", len(told["ann"]), len(told["lou"]))
	}
}
