package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"newtop/internal/format"
	"newtop/internal/routine"
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

// Client asks a peer over the protocol of docs/peer.md. What is wrong with the peer is reported by one line, and then
// by every method. A reply that says failed or memory counts as that too, until the next step of an observed peer, but
// Set, Tell and Close still reach the peer.
//
// One goroutine at a time calls its methods; Interrupt, Close and Spent may be called by others at any time.
type Client struct {
	options  Options
	about    About
	observed bool
	release  func() bool // the context
	closing  sync.Once
	done     chan struct{} // closed by shut

	mu   sync.Mutex // held during requests
	wire wire
	open bool // observed: between step and on
	left bool // the peer was told to stop, and said so
}

var _ Endpoint = (*Client)(nil)

// New greets the peer at the other end of a connection, which becomes the client's: it is closed with the client, when
// the context ends, and when New fails.
func New(ctx context.Context, conn net.Conn, o Options) (*Client, error) {
	return newClient(ctx, conn, o, nil)
}

func newClient(ctx context.Context, conn net.Conn, o Options, p *program) (*Client, error) {
	o.setDefaults()
	c := &Client{options: o, done: make(chan struct{})}
	c.wire = wire{conn: conn, name: cmp.Or(o.Name, "the peer"), program: p, in: newReader(conn), out: writer{w: conn}}
	c.release = context.AfterFunc(ctx, routine.Guard(func() { c.Interrupt(context.Cause(ctx)) }))
	if p != nil {
		routine.Go(func() { c.watchProgram(p) })
	}
	hello, err := c.wire.greet(&o)
	if err != nil {
		c.left = true // it is told by the end of the connection, and has what failed to print
		c.shut()
		return nil, err
	}
	c.about, c.observed = hello.about, hello.observed
	return c, nil
}

// Dial greets a peer that listens at a path.
func Dial(ctx context.Context, path string, o Options) (*Client, error) {
	o.setDefaults()
	o.Name = cmp.Or(o.Name, format.Printable(path))
	conn, err := dial(ctx, path, o.Hello)
	if err != nil {
		if bad, ok := errors.AsType[*os.SyscallError](err); ok {
			err = bad.Err
		}
		return nil, fmt.Errorf("%s: %w: expected the socket of a peer", o.Name, err)
	}
	return New(ctx, conn, o)
}

// watchProgram breaks the connection some time after the program's end: its children may hold the other end.
func (c *Client) watchProgram(p *program) {
	<-p.ended
	select {
	case <-time.After(drainPatience):
		c.Interrupt(errEnded)
	case <-c.done:
	}
}

// Interrupt breaks a request at once, and the client with it.
func (c *Client) Interrupt(cause error) {
	c.wire.cause.CompareAndSwap(nil, &cause)
	c.wire.conn.Close()
}

// InterruptRequest breaks a request that is in progress.
func (c *Client) InterruptRequest(cause error) {
	if c.mu.TryLock() {
		c.mu.Unlock()
		return
	}
	c.Interrupt(cause)
}

// Leave says stop to a driven peer that waits for a request. A program that newtop has started then continues by
// itself.
func (c *Client) Leave() {
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if c.observed || c.wire.broken != nil || c.left {
		return
	}
	c.wire.failed = nil
	_, err := c.wire.exchange(&request{op: "stop", patience: stopPatience})
	c.left = err == nil
}

// Ended is closed when a program that newtop has started has ended, and all that it printed has come; nil for other
// peers.
func (c *Client) Ended() <-chan struct{} {
	if c.wire.program == nil {
		return nil
	}
	return c.wire.program.ended
}

// Failure is how a program that has Ended did so, nil for well.
func (c *Client) Failure() error {
	if c.wire.program.status == nil {
		return nil
	}
	how, _ := c.wire.program.how()
	return fmt.Errorf("%s ended after the run: %s", c.wire.name, how)
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
	if c.wire.broken == nil {
		c.wire.broken = fmt.Errorf("%s: %w", c.wire.name, errClosed)
	}
	if c.wire.mapped != nil {
		c.wire.mapped.unmap()
	}
	if c.wire.program != nil {
		c.wire.program.stop(c.left)
	}
}

// About returns what the peer says of its model.
func (c *Client) About() *About { return &c.about }

// Observed reports whether the peer trains its model by itself, and lets it be looked at.
func (c *Client) Observed() bool { return c.observed }

// Spent returns how long the peer says that its answers took.
func (c *Client) Spent() time.Duration { return time.Duration(c.wire.spent.Load()) }

// ask sends a request and reads the reply.
func (c *Client) ask(q *request) (header, error) {
	if q.driven && c.observed {
		return nil, fmt.Errorf("%s: %s in observed mode: %w", c.wire.name, q.op, ErrUnsupported)
	}
	for _, has := range q.needs {
		if !c.about.Can(has) {
			return nil, fmt.Errorf("%s: %s: %w", c.wire.name, has, ErrUnsupported)
		}
	}
	c.checkSizes(q)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.wire.broken != nil:
		return nil, c.wire.broken
	case c.wire.failed != nil && !q.last:
		return nil, c.wire.failed
	case c.observed && !c.open:
		return nil, fmt.Errorf("%s: %s between two steps: %w", c.wire.name, q.op, ErrUnsupported)
	}
	q.patience = c.options.Answer
	return c.wire.exchange(q)
}

// checkSizes panics at vectors of another length than that of the weights.
func (c *Client) checkSizes(q *request) {
	for i, v := range [][]float64{q.vector, q.dst} {
		if v != nil && len(v) != c.about.Dim && (i == 0 || q.draws == nil) {
			panic(fmt.Sprintf("peer: a vector of %d numbers for %d weights", len(v), c.about.Dim))
		}
	}
}

// measure is ask for a request that is answered by how well weights do.
func (c *Client) measure(q *request) (f Metrics, err error) {
	q.loss = true
	h, err := c.ask(q)
	if err != nil {
		return Metrics{}, err
	}
	for _, n := range []field{{"loss", &f.Loss}, {"error_rate", &f.Error}, {"rmse", &f.RMSE}} {
		if *n.dst, err = h.number(n.key); err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			return f, c.wire.fail(q.op, 0, err)
		}
	}
	return f, nil
}
