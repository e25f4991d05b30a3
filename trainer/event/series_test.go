package event

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// at is a value of an earlier epoch.
func at(key string, x int, v Float) Metric { return LateMetric(key, x, v) }

func told(epoch int, loss Float, metrics ...Metric) EpochEvent {
	e := UnknownEpoch(epoch)
	e.Loss, e.Metrics = loss, metrics
	return e
}

// write lists all points of a collection.
func write(c *Collection) string {
	var b strings.Builder
	for _, s := range c.Series {
		fmt.Fprintf(&b, "%s", s.Key)
		for p := range s.All() {
			fmt.Fprintf(&b, " %d:%g", p.X, float64(p.V))
		}
		b.WriteString("; ")
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func TestCollection(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []Event
		want   string
	}{
		{"late values", []Event{told(1, 3), told(2, 2, at("test_loss", 1, 5), Metric{Key: "lr", Value: 7})}, "loss 1:3 2:2; test_loss 1:5; lr 2:7"},
		{"a metric is cut", []Event{told(1, 3, Metric{Key: "a", Value: 1}), told(2, 2, Metric{Key: "a", Value: 2}), CutEvent{"a", 2}, told(3, 1, at("a", 2, 9))},
			"loss 1:3 2:2 3:1; a 1:1 2:9"},
		{"a quantity is cut", []Event{told(1, 3), told(2, 2), CutEvent{"loss", 1}, told(4, Absent, at("loss", 1, 8))}, "loss 1:8"},
		{"back", []Event{told(1, 3), told(2, 2), RewindEvent{2, 1}, told(2, 1)}, "loss 1:3 2:1"},
		{"another run", []Event{RunEvent{ID: "a"}, told(1, 3), RunEvent{ID: "b"}, told(2, 2)}, "loss 2:2"},
	} {
		var all Collection
		for _, e := range c.events {
			all.See(e)
		}
		if got := write(&all); got != c.want {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
		xs := map[int]bool{}
		for _, s := range all.Series {
			for p := range s.All() {
				xs[p.X] = true
			}
		}
		if all.Epochs() != len(xs) {
			t.Errorf("%s: %d epochs, expected %d", c.name, all.Epochs(), len(xs))
		}
	}
}

// Epochs from which values were cut, or to which late ones were added, make the same series as the events do one by
// one.
func TestCutAndSettle(t *testing.T) {
	events := []EpochEvent{told(1, 3, Metric{Key: "a", Value: 1}), told(3, 2, Metric{Key: "a", Value: 2}, at("test_loss", 1, 4), at("test_loss", 2, 5)),
		told(4, 1, at("a", 3, 9), at("loss", 2, 8))}
	var want, cut, settled Collection
	for i := range events {
		want.See(events[i])
	}
	void := CutEvent{"a", 3}
	want.See(void)
	held := append([]EpochEvent(nil), events...)
	void.Cut(held)
	var epochs []EpochEvent
	for i := range held {
		cut.See(held[i])
		if i < 2 {
			epochs = Settle(epochs, &events[i])
		}
	}
	if got := write(&cut); got != write(&want) {
		t.Errorf("%s, expected %s", got, write(&want))
	}
	if len(events[1].Metrics) != 3 || len(events[2].Metrics) != 2 {
		t.Error("a shared event was changed")
	}
	for i := range epochs {
		settled.See(epochs[i])
	}
	if got, want := write(&settled), "loss 1:3 3:2; test_loss 1:4 2:5; a 1:1 3:2"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

func TestLateOnTheWire(t *testing.T) {
	want := told(4, 1, at("a", 3, 9), Metric{Key: "b", Value: 2})
	line, err := EncodeEvent(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeEvent(line)
	if text, _ := EncodeEvent(got); err != nil || string(text) != string(line) || !strings.Contains(string(line), `"x":3`) {
		t.Errorf("%s: %v", text, err)
	}
	quick, ok := scanQuick(line)
	if text, _ := EncodeEvent(quick); !ok || string(text) != string(line) {
		t.Errorf("%s: %v", text, ok)
	}
	late, own := want.Late()
	if len(late) != 1 || late[0].Epoch != 3 || !reflect.DeepEqual(own.Metrics, []Metric{{Key: "b", Value: 2}}) {
		t.Errorf("%+v, %+v", late, own.Metrics)
	}
}
