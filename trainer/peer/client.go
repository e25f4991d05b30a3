package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"newtop/internal/format"
)

// Options say how a Client waits and how vectors come to it.
type Options struct {
	Name   string        // of the peer in errors; "": what its hello says
	Answer time.Duration // within which a request is answered; 0: 10 minutes
	Hello  time.Duration // within which hello comes; 0: a fifth of Answer, 2 minutes by default
	Map    int           // from how many weights on vectors go through a mapped file; 0: 10,000, negative: never
	Dir    string        // private, for a mapped file that needs a name; "": the client makes one
}

const (
	defaultAnswer = 10 * time.Minute
	defaultMap    = 10_000
	stopPatience  = 2 * time.Second // for the reply to stop
)

func (o *Options) setDefaults() {
	o.Answer = cmp.Or(o.Answer, defaultAnswer)
	o.Hello = cmp.Or(o.Hello, o.Answer/5)
	o.Map = cmp.Or(o.Map, defaultMap)
}

var errClosed = errors.New("closed")

// Client asks a peer over the protocol of docs/peer.md. What is wrong with the peer is told by one line, and then by
// every method. A reply that says failed or memory counts as that too, until the next step of an observed peer, but
// Set, Tell and Close still reach the peer.
//
// One goroutine at a time calls its methods; Interrupt, Close and Spent may be called by others at any time.
type Client struct {
	conn     net.Conn
	options  Options
	name     string
	about    About
	observed bool
	dtype    dtype
	program  *program // that newtop has started; nil: none
	cause    atomic.Pointer[error]
	spent    atomic.Int64
	release  func() bool // the context
	closing  sync.Once
	done     chan struct{} // closed by shut

	mu     sync.Mutex // held during requests
	in     *reader
	out    writer
	mapped *mapped
	id     int
	open   bool  // observed: between step and on
	left   bool  // the peer was told to stop, and said so
	broken error // the connection is of no use
	failed error // the peer has said so of a request
}

var _ Endpoint = (*Client)(nil)

// New greets the peer at the other end of a connection, which becomes the client's: it is closed with the client, when
// the context ends, and when New fails.
func New(ctx context.Context, conn net.Conn, o Options) (*Client, error) {
	return newClient(ctx, conn, o, nil)
}

func newClient(ctx context.Context, conn net.Conn, o Options, p *program) (*Client, error) {
	o.setDefaults()
	c := &Client{conn: conn, options: o, name: cmp.Or(o.Name, "the peer"), program: p, in: newReader(conn),
		out: writer{w: conn}, done: make(chan struct{})}
	c.release = context.AfterFunc(ctx, func() { c.Interrupt(context.Cause(ctx)) })
	if p != nil {
		go c.outlive(p)
	}
	if err := c.greet(); err != nil {
		c.shut()
		return nil, err
	}
	return c, nil
}

// Dial greets a peer that listens on a Unix socket.
func Dial(ctx context.Context, path string, o Options) (*Client, error) {
	o.setDefaults()
	o.Name = cmp.Or(o.Name, format.Printable(path))
	dialer := net.Dialer{Timeout: o.Hello}
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		if bad, ok := errors.AsType[*os.SyscallError](err); ok {
			err = bad.Err
		}
		return nil, fmt.Errorf("%s: %w: expected the socket of a peer", o.Name, err)
	}
	return New(ctx, conn, o)
}

// outlive breaks the connection some time after the program's end: its children may hold the other end.
func (c *Client) outlive(p *program) {
	<-p.ended
	select {
	case <-time.After(drainPatience):
		c.Interrupt(errEnded)
	case <-c.done:
	}
}

// Interrupt breaks a request at once, and the client with it.
func (c *Client) Interrupt(cause error) {
	c.cause.CompareAndSwap(nil, &cause)
	c.conn.Close()
}

// Hurry breaks a request that is under way.
func (c *Client) Hurry(cause error) {
	if c.mu.TryLock() {
		c.mu.Unlock()
		return
	}
	c.Interrupt(cause)
}

// Leave says stop to a driven peer that waits for a request. A program that newtop has started then goes on by itself.
func (c *Client) Leave() {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if c.observed || c.broken != nil || c.left {
		return
	}
	c.failed = nil
	_, err := c.exchange(&request{op: "stop", patience: stopPatience})
	c.left = err == nil
}

// Ended is closed when a program that newtop has started has ended, and all that it printed has come; nil for other
// peers.
func (c *Client) Ended() <-chan struct{} {
	if c.program == nil {
		return nil
	}
	return c.program.ended
}

// Failure is how a program that has Ended did so, nil for well.
func (c *Client) Failure() error {
	if c.program.status == nil {
		return nil
	}
	how, _ := c.program.how()
	return fmt.Errorf("%s ended after the run: %s", c.name, how)
}

// Close leaves the peer, closes the connection, and ends a program that newtop has started, with its children.
func (c *Client) Close() error {
	c.closing.Do(func() {
		c.Leave()
		c.shut()
	})
	return nil
}

// shut gives back what the client has.
func (c *Client) shut() {
	c.release()
	close(c.done)
	c.Interrupt(errClosed)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.broken = fmt.Errorf("%s: %w", c.name, errClosed)
	}
	if c.mapped != nil {
		c.mapped.unmap()
	}
	if c.program != nil {
		c.program.stop(c.left)
	}
}

// About returns what the peer says of its model.
func (c *Client) About() *About { return &c.about }

// Observed reports whether the peer owns the weights.
func (c *Client) Observed() bool { return c.observed }

// Spent returns how long the peer says that its answers took.
func (c *Client) Spent() time.Duration { return time.Duration(c.spent.Load()) }

// Mapped reports whether vectors go through a mapped file.
func (c *Client) Mapped() bool { return c.mapped != nil }

// request is what a peer is asked.
type request struct {
	op       string
	keys     map[string]any
	vectors  []outgoing
	want     string    // the vector that the reply has; "": none
	dst      []float64 // for it
	loss     bool      // whether the reply has a loss
	last     bool      // whether it is for a peer that has failed as well
	patience time.Duration
}

// weights makes one for a vector of weights; nil: none.
func (c *Client) weights(name string, w []float64) []outgoing {
	if w == nil {
		return nil
	}
	c.sized(w)
	return []outgoing{{name: name, floats: w, mapped: c.mapped}}
}

func (c *Client) sized(w []float64) {
	if len(w) != c.about.Dim {
		panic(fmt.Sprintf("peer: a vector of %d numbers for %d weights", len(w), c.about.Dim))
	}
}

// ask sends a request and reads the reply.
func (c *Client) ask(q *request) (head, error) {
	if q.dst != nil {
		c.sized(q.dst)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.broken != nil:
		return nil, c.broken
	case c.failed != nil && !q.last:
		return nil, c.failed
	case c.observed && !c.open:
		return nil, fmt.Errorf("%s: %s between two steps: %w", c.name, q.op, ErrUnsupported)
	}
	q.patience = c.options.Answer
	return c.exchange(q)
}

// exchange is ask for one that has the lock and a connection.
func (c *Client) exchange(q *request) (head, error) {
	if q.keys == nil {
		q.keys = make(map[string]any, 3)
	}
	q.keys["op"], q.keys["id"] = q.op, c.id
	_ = c.conn.SetDeadline(time.Now().Add(q.patience)) // a closed connection tells so when it is used
	err := c.out.frame(q.keys, c.dtype, q.vectors)
	if err != nil {
		return nil, c.breaks(q.op, q.patience, err)
	}
	h, told, err := c.reply(q)
	if err != nil {
		return nil, c.breaks(q.op, q.patience, err)
	}
	c.id++
	return h, told
}

// reply reads the answer to a request: told is what the peer says instead of one.
func (c *Client) reply(q *request) (h head, told, err error) {
	if h, err = c.in.next(); err != nil {
		return nil, nil, err
	}
	if op, _ := h.text("op"); op != "" {
		return nil, nil, fmt.Errorf("it sends %.20q and no reply", op)
	}
	if _, ok := h["id"]; !ok {
		return nil, nil, errors.New("the reply has no id")
	}
	id, err := h.count("id", math.MinInt)
	switch {
	case err != nil:
		return nil, nil, err
	case id != c.id:
		return nil, nil, fmt.Errorf("the reply has id %d, not %d", id, c.id)
	}
	if _, ok := h["error"]; ok {
		if told, err = c.refusal(q.op, h); err != nil {
			return nil, nil, err
		}
		return nil, told, c.in.end()
	}
	return h, nil, c.answer(q, h)
}

// answer reads what a reply has: the time that it took, a loss, and a vector.
func (c *Client) answer(q *request, h head) error {
	ms, err := h.number("ms")
	if err != nil {
		return err
	}
	if ms > 0 && ms < float64(math.MaxInt64/int64(time.Millisecond)) {
		c.spent.Add(int64(ms * float64(time.Millisecond)))
	}
	if q.loss {
		if _, err := h.needed("loss"); err != nil {
			return err
		}
	}
	if q.want == "" {
		return c.in.end()
	}
	v, err := c.in.vector(q.want, c.dtype, len(q.dst))
	switch {
	case err != nil:
	case !v.Map:
		err = c.in.floats(q.dst, c.dtype)
	case c.mapped == nil:
		err = fmt.Errorf("vector %s is said to be in a mapped file, and there is none", q.want)
	default:
		err = c.mapped.read(q.dst, q.want, v, c.dtype)
	}
	if err != nil {
		return err
	}
	return c.in.end()
}
