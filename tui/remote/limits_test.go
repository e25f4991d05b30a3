package remote

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"newtop/tui/screen"
)

func TestLimitsDefaults(t *testing.T) {
	l := Limits{}.normal()
	want := Limits{Sessions: 128, SessionsPerKey: 32, Memory: 256 << 20, Handshakes: 20, Login: time.Minute, Stall: 30 * time.Second, Size: screen.Size{Width: 500, Height: 200}}
	if l != want {
		t.Errorf("%+v", l)
	}
	for _, c := range []struct {
		w, h uint32
		want screen.Size
	}{
		{80, 24, screen.Size{Width: 80, Height: 24}},
		{0, 0, screen.Size{Width: 80, Height: 24}},
		{0, 50, screen.Size{Width: 80, Height: 24}},
		{1, 1, screen.Size{Width: 1, Height: 1}},
		{1 << 31, 1<<32 - 1, screen.Size{Width: 500, Height: 200}},
		{501, 24, screen.Size{Width: 500, Height: 24}},
	} {
		if got := l.clamp(c.w, c.h); got != c.want {
			t.Errorf("%d × %d is cut to %v", c.w, c.h, got)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative limit is no panic")
		}
	}()
	Limits{Sessions: -1}.normal()
}

func TestGateHandshakes(t *testing.T) {
	g := newGate(Limits{Sessions: 100, SessionsPerKey: 1, Handshakes: 4}.normal())
	now := time.Unix(1e9, 0)
	a, b, c := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("10.0.0.3")
	let := func(from netip.Addr, at time.Time) (n int) {
		for range 20 {
			if k, reason := g.admit(from, at, nil); reason == "" {
				g.greeted(k)
				n++
			}
		}
		return n
	}
	// Of a burst of 8 for all a host gets 4, however often it knocks.
	if n := let(a, now); n != 4 {
		t.Errorf("a host began %d handshakes", n)
	}
	if n := let(b, now); n != 4 {
		t.Errorf("another host began %d", n)
	}
	if n := let(c, now); n != 0 {
		t.Errorf("a third began %d", n)
	}
	// A second later there are 4 more, and 2 for each that had none left.
	if n := let(a, now.Add(time.Second)); n != 2 {
		t.Errorf("later the first began %d", n)
	}
	// All of an IPv6 network is one host.
	g = newGate(Limits{Handshakes: 2}.normal())
	for i, addr := range []string{"2001:db8::1", "2001:db8::2", "2001:db8::3"} {
		_, reason := g.admit(netip.MustParseAddr(addr), now, nil)
		if (reason == "") != (i < 2) {
			t.Errorf("%s: %q", addr, reason)
		}
	}
}

// Who holds connections open gives way to newer ones, by the oldest of a host's or of all; who has logged in does not.
func TestGateKnocking(t *testing.T) {
	g := newGate(Limits{Sessions: 16, Handshakes: 1000}.normal())
	now := time.Unix(1e9, 0)
	ended := make(chan string, 1)
	come := func(h int, name string) (*knock, string) {
		return g.admit(netip.AddrFrom4([4]byte{10, 0, 0, byte(h)}), now, func(string) { ended <- name })
	}
	var first *knock
	for h := range 8 {
		for i, want := range []string{"", "", "0", "1"} {
			k, reason := come(h, fmt.Sprint(i))
			if h == 0 && i == 3 {
				first = k
			}
			if reason != "" || want != "" && <-ended != want {
				t.Errorf("connection %d of host %d: %q", i, h, reason)
			}
		}
	}
	if _, reason := come(8, "new"); reason != "" || <-ended != "2" || len(g.knocks) != 16 {
		t.Errorf("beyond what all have: %q, %d", reason, len(g.knocks))
	}
	for _, k := range g.knocks {
		g.loggedIn(k)
	}
	if _, reason := come(9, ""); reason != "too many connections have no session" {
		t.Errorf("when all have logged in: %q", reason)
	}
	g.greeted(first)
	if _, reason := come(9, ""); reason != "" {
		t.Errorf("when one has a session: %q", reason)
	}
}

func TestGateSeats(t *testing.T) {
	g := newGate(Limits{Sessions: 3, SessionsPerKey: 2}.normal())
	small := screen.Size{Width: 80, Height: 24}
	var seats [6]seat
	for i, c := range []struct {
		key string
		ok  bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"c", false}} {
		if reason := g.occupy(&seats[i], c.key, small); (reason == "") != c.ok {
			t.Errorf("seat %d: %q", i, reason)
		}
	}
	g.rise(&seats[0])
	if reason := g.occupy(&seats[5], "c", small); reason != "" || g.sitting() != 3 {
		t.Errorf("after one has left: %q, %d sit", reason, g.sitting())
	}
	for _, i := range []int{1, 3, 5} {
		g.rise(&seats[i])
	}
	if len(g.seats) != 0 || g.sitting() != 0 || g.memory != 0 {
		t.Errorf("left: %v, %d bytes", g.seats, g.memory)
	}
}

// TestGateMemory: who would take more memory than viewers may is not let in, and does not grow.
func TestGateMemory(t *testing.T) {
	small, large := screen.Size{Width: 80, Height: 24}, screen.Size{Width: 500, Height: 200}
	g := newGate(Limits{Memory: bytesOf(small) + bytesOf(large)}.normal())
	var gone seat
	g.occupy(&gone, "key", small)
	g.rise(&gone)
	if !g.resize(&gone, large) || g.memory != 0 {
		t.Errorf("one who has gone takes %d bytes", g.memory)
	}
	var a, b, c seat
	if !g.resize(&a, large) || g.occupy(&a, "a", small) != "" || a.bytes != bytesOf(large) {
		t.Errorf("a size that comes first counts %d bytes", a.bytes)
	}
	if reason := g.occupy(&b, "b", small); reason != "" {
		t.Error(reason)
	}
	if reason := g.occupy(&c, "c", small); !strings.Contains(reason, "7 MB") || !strings.Contains(reason, "the 2 who are watching") || strings.Contains(reason, "\n") {
		t.Errorf("beyond the memory: %q", reason)
	}
	if g.resize(&b, large) || !g.resize(&a, small) || !g.resize(&b, large) {
		t.Error("sizes are not counted")
	}
	g.rise(&a)
	if g.rise(&b); g.memory != 0 {
		t.Errorf("%d bytes are left", g.memory)
	}
}

// TestMemoryIsGiven back when the last viewer has left for a while, and not often.
func TestMemoryIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, given := newGate(Limits{}.normal()), 0
		m := newMemory(g)
		m.free = func() { given++ }
		defer m.close()
		var s seat
		for _, c := range []struct{ wait, want int }{{3, 1}, {3, 1}, {30, 2}} {
			s = seat{}
			g.occupy(&s, "a", screen.Size{})
			m.give()
			g.rise(&s)
			m.give()
			time.Sleep(time.Duration(c.wait) * time.Second)
			synctest.Wait()
			if given != c.want {
				t.Errorf("given back %d times, expected %d", given, c.want)
			}
		}
		m.give()
		s = seat{}
		g.occupy(&s, "a", screen.Size{})
		time.Sleep(time.Minute)
		if synctest.Wait(); given != 2 {
			t.Error("given back while somebody looks")
		}
	})
}

// Whoever knocks from many addresses can't make the gate remember them all.
func TestGateForgets(t *testing.T) {
	g := newGate(Limits{Handshakes: 1}.normal())
	now := time.Unix(1e9, 0)
	for i := range 3 * maxHosts {
		g.admit(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now, nil)
	}
	if n := len(g.hosts); n > maxHosts {
		t.Errorf("%d hosts are remembered", n)
	}
	if len(g.knocks) != 2 {
		t.Errorf("%d are knocking", len(g.knocks))
	}
}

func TestGateSpeaks(t *testing.T) {
	g := newGate(Limits{}.normal())
	now := time.Unix(1e9, 0)
	a := netip.MustParseAddr("10.0.0.1")
	said := 0
	for range 1000 {
		if ok, _ := g.speak(a, now); ok {
			said++
		}
	}
	if said != lineBurst {
		t.Errorf("%d lines at once", said)
	}
	if ok, muted := g.speak(a, now.Add(6*time.Second)); !ok || muted != 1000-lineBurst {
		t.Errorf("later %v, with %d left out", ok, muted)
	}
}
