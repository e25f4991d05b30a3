package remote

import (
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"newtop/internal/routine"
	"newtop/tui/screen"
)

// What is not an option.
const (
	authTries    = 20  // keys that a client may offer: an agent may hold many, and a key can't be guessed
	channelTries = 16  // channels that a client may open beyond its one before the connection ends
	requestRate  = 100 // requests a second that are answered on a connection
	requestBurst = 200 //
	// bytes that a client may send before it has logged in: twenty of the largest keys are half of that
	loginBytes      = 64 << 10
	exchangeRate    = 0.1      // key exchanges a second of a client who has logged in
	exchangeBurst   = 8        //
	maxHandshakes   = 8        // as many hosts share the connections that have no session yet
	clientRate      = 64e3     // bytes a second that are read from a connection
	clientBurst     = 256e3    //
	clientChunk     = 4096     // of them at a time
	inputRate       = 4e3      // bytes a second that are read of what is typed
	inputBurst      = 16e3     //
	writeBuffer     = 64 << 10 // bytes that the kernel keeps of a connection's output
	outputChunk     = 16384    // bytes that a client must take within Limits.Stall
	keepalive       = 15 * time.Second
	keepalivesLost  = 3               // as many unanswered end a connection
	closingText     = 2 * time.Second // for a screen to be restored, before the connection is cut
	parting         = time.Second     // for a client to go by itself after the last byte
	lineRate        = 0.2             // lines a second that a host can put into the log
	lineBurst       = 10              //
	allLineRate     = 20              // the same for all hosts
	allLineBurst    = 100             //
	maxHosts        = 4096            // remembered
	forgetHostAfter = 5 * time.Minute
)

// normal replaces zeros by the defaults.
func (l Limits) normal() Limits {
	if l.Sessions < 0 || l.SessionsPerKey < 0 || l.Memory < 0 || l.Handshakes < 0 || l.Login < 0 || l.Idle < 0 ||
		l.Stall < 0 || l.Size.Width < 0 || l.Size.Height < 0 {
		panic(fmt.Sprintf("remote: a negative limit in %+v", l))
	}
	or(&l.Sessions, 128)
	or(&l.SessionsPerKey, 32)
	or(&l.Memory, 256<<20)
	or(&l.Handshakes, 20)
	or(&l.Login, time.Minute)
	or(&l.Stall, 30*time.Second)
	or(&l.Size.Width, 500)
	or(&l.Size.Height, 200)
	return l
}

func or[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// clamp makes a size that a client tells one that a screen can have. A client without one, as some programs are, gets
// the terminal that everybody had once.
func (l *Limits) clamp(width, height uint32) screen.Size {
	if width == 0 || height == 0 {
		width, height = 80, 24
	}
	return screen.Size{Width: int(min(width, uint32(l.Size.Width))), Height: int(min(height, uint32(l.Size.Height)))}
}

// gate counts who knocks. Its methods may be called from any goroutine.
type gate struct {
	mu       sync.Mutex
	limits   Limits
	all      *rate.Limiter // handshakes
	lines    *rate.Limiter // of the log
	hosts    map[netip.Addr]*host
	knocks   []*knock       // connections without a session yet, in the order in which they came
	seats    map[string]int // sessions, by the fingerprint of their key
	occupied int            // sessions in all
	memory   int            // bytes that are set aside for them
}

// seat is a place at the run. The gate alone looks into it.
type seat struct {
	key   string // its fingerprint, once the seat is taken
	bytes int    // that are set aside for it, or will be
}

// Bytes that are set aside for a viewer, and for each cell of their terminal: a connection with its buffers and
// goroutines, and a screen whose panes are drawn for this viewer alone, zoomed, with the one before. Most take less.
const (
	viewerBytes = 768 << 10
	cellBytes   = 64
)

func bytesOf(size screen.Size) int { return viewerBytes + cellBytes*size.Width*size.Height }

// knock is a connection that has no session yet. The gate alone looks into it.
type knock struct {
	host netip.Addr
	in   bool                // it has logged in
	end  func(reason string) // ends the connection
}

// host is an address that connections come from; of IPv6 a network of 64 bits, which is what one customer has.
type host struct {
	handshakes *rate.Limiter
	lines      *rate.Limiter
	muted      int // lines left out of the log since the last one
	seen       time.Time
}

func newGate(l Limits) *gate {
	return &gate{
		limits: l, hosts: map[netip.Addr]*host{}, seats: map[string]int{},
		all:   rate.NewLimiter(rate.Limit(l.Handshakes), atLeastOne(2*l.Handshakes)),
		lines: rate.NewLimiter(allLineRate, allLineBurst),
	}
}

func atLeastOne(burst float64) int { return int(min(max(burst, 1), 1e9)) }

// neighbourhood is what counts as one host.
func neighbourhood(a netip.Addr) netip.Addr {
	if a = a.Unmap().WithZone(""); a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return a
}

// host returns what is known of a host. The caller holds mu.
func (g *gate) host(a netip.Addr, now time.Time) *host {
	a = neighbourhood(a)
	h := g.hosts[a]
	if h == nil {
		if len(g.hosts) >= maxHosts {
			g.forget(now)
		}
		// One host alone can't take what all have.
		h = &host{
			handshakes: rate.NewLimiter(rate.Limit(g.limits.Handshakes/2), atLeastOne(g.limits.Handshakes)),
			lines:      rate.NewLimiter(lineRate, lineBurst),
		}
		g.hosts[a] = h
	}
	h.seen = now
	return h
}

// forget drops the hosts that have nothing open: those not seen lately, or all if that is not enough.
func (g *gate) forget(now time.Time) {
	open := map[netip.Addr]bool{}
	for _, k := range g.knocks {
		open[k.host] = true
	}
	for _, age := range []time.Duration{forgetHostAfter, 0} {
		for a, h := range g.hosts {
			if !open[a] && now.Sub(h.seen) >= age {
				delete(g.hosts, a)
			}
		}
		if len(g.hosts) < maxHosts {
			return
		}
	}
}

// admit asks whether a new connection may begin its handshake; it is why not, or empty. Who may must call greeted once,
// and may be ended before. Where too many have no session the oldest of them that has not logged in is ended: who holds
// connections open then keeps nobody out who logs in faster than they come, though they share an address.
func (g *gate) admit(a netip.Addr, now time.Time, end func(reason string)) (*knock, string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.host(a, now)
	switch {
	case !h.handshakes.AllowN(now, 1):
		return nil, "too many connections a second from this host"
	case !g.all.AllowN(now, 1):
		return nil, "too many connections a second"
	}
	k := &knock{host: neighbourhood(a), end: end}
	switch {
	case !g.room(g.limits.Sessions/maxHandshakes, k.host):
		return nil, "too many connections of this host have no session"
	case !g.room(g.limits.Sessions, netip.Addr{}):
		return nil, "too many connections have no session"
	}
	g.knocks = append(g.knocks, k)
	return k, ""
}

// room ends the oldest connection of a host's, or of all for none, if there are limit of them. It reports whether there
// is room for one more.
func (g *gate) room(limit int, of netip.Addr) bool {
	count, oldest := 0, -1
	for i, k := range g.knocks {
		if of.IsValid() && k.host != of {
			continue
		}
		if count++; oldest < 0 && !k.in {
			oldest = i
		}
	}
	if full := count >= max(limit, 1); !full || oldest < 0 {
		return !full
	}
	k := g.knocks[oldest]
	g.knocks = slices.Delete(g.knocks, oldest, oldest+1)
	routine.Go(func() { k.end("gave way to newer connections: too many have no session") })
	return true
}

// loggedIn keeps a connection from being ended for newer ones.
func (g *gate) loggedIn(k *knock) {
	g.mu.Lock()
	defer g.mu.Unlock()
	k.in = true
}

// greeted ends what admit began: the client has a session or is gone.
func (g *gate) greeted(k *knock) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.knocks = slices.DeleteFunc(g.knocks, func(o *knock) bool { return o == k })
}

// occupy takes a seat for a key, with a terminal of a size; it is why not, or empty. Who has one must call rise once.
func (g *gate) occupy(s *seat, fingerprint string, size screen.Size) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	bytes := max(s.bytes, bytesOf(size))
	switch {
	case g.occupied >= g.limits.Sessions:
		return fmt.Sprintf("%d are watching already, the most that are served", g.occupied)
	case g.seats[fingerprint] >= g.limits.SessionsPerKey:
		return fmt.Sprintf("%d are watching with this key already, the most that are served", g.seats[fingerprint])
	case g.memory+bytes > g.limits.Memory:
		return fmt.Sprintf(
			"the memory for viewers, %d MB, is taken by the %d who are watching; a smaller terminal takes less",
			g.limits.Memory>>20, g.occupied)
	}
	g.occupied++
	g.seats[fingerprint]++
	g.memory += bytes
	s.key, s.bytes = fingerprint, bytes
	return ""
}

// resize sets memory aside for another size of the terminal, and says whether there is any.
func (g *gate) resize(s *seat, size screen.Size) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	bytes := bytesOf(size)
	if s.key == "" { // it is taken at once
		s.bytes = max(s.bytes, bytes)
		return true
	}
	if bytes > s.bytes && g.memory+bytes-s.bytes > g.limits.Memory {
		return false
	}
	g.memory += bytes - s.bytes
	s.bytes = bytes
	return true
}

func (g *gate) rise(s *seat) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.occupied--
	g.memory -= s.bytes
	if g.seats[s.key]--; g.seats[s.key] == 0 {
		delete(g.seats, s.key)
	}
	s.key, s.bytes = "", 0 // a size that is told from now on takes nothing
}

// sitting is how many have a seat.
func (g *gate) sitting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.occupied
}

// speak asks whether a line about a host may be logged, and returns how many were not since the last one.
func (g *gate) speak(a netip.Addr, now time.Time) (ok bool, muted int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	h := g.host(a, now)
	if !h.lines.AllowN(now, 1) || !g.lines.AllowN(now, 1) {
		h.muted++
		return false, 0
	}
	muted, h.muted = h.muted, 0
	return true, muted
}
