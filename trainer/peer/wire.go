package peer

import (
	"errors"
	"fmt"
	"math"
	"net"
	"sync/atomic"
	"time"
)

// wire carries frames to a peer and back, one at a time.
type wire struct {
	conn    net.Conn
	name    string   // of the peer in errors
	program *program // that newtop has started; nil: none
	dtype   dtype
	in      *reader
	out     writer
	mapped  *mapped               // through which vectors go; nil: the connection
	id      int                   // of the next request
	cause   atomic.Pointer[error] // of a broken connection, where it is known
	spent   atomic.Int64          // how long answers took, by the peer
	broken  error                 // the connection is of no use
	failed  error                 // the peer has said so of a request
}

// request is what a peer is asked.
type request struct {
	op       string
	needs    []string // what the peer must have said that it answers
	driven   bool     // whether it is none for a peer that owns its weights
	keys     map[string]any
	name     string    // of the vector that goes with it
	vector   []float64 // as long as the weights; nil: none
	rows     []int     // nil: none
	draws    []float64 // random numbers, of which there may be any; nil: none
	want     string    // the vector that the reply has; "": none
	dst      []float64 // for it
	loss     bool      // whether the reply has a loss
	last     bool      // whether it is for a peer that has failed as well
	patience time.Duration
}

// vectors are those that go with the request.
func (q *request) vectors(m *mapped) (out []outgoing) {
	if q.vector != nil {
		out = append(out, outgoing{name: q.name, floats: q.vector, mapped: m})
	}
	if q.rows != nil {
		out = append(out, outgoing{name: "rows", ints: q.rows})
	}
	if q.draws != nil {
		out = append(out, outgoing{name: "draws", floats: q.draws, double: true})
	}
	return out
}

// field is a number of a head and where it goes.
type field struct {
	key string
	dst *float64
}

// exchange sends a request and reads the reply.
func (w *wire) exchange(q *request) (header, error) {
	if q.keys == nil {
		q.keys = make(map[string]any, 3)
	}
	q.keys["op"], q.keys["id"] = q.op, w.id
	_ = w.conn.SetDeadline(time.Now().Add(q.patience)) // a closed connection tells so when it is used
	err := w.out.frame(q.keys, w.dtype, q.vectors(w.mapped))
	if err != nil {
		return nil, w.fail(q.op, q.patience, err)
	}
	h, refusal, err := w.reply(q)
	if err != nil {
		return nil, w.fail(q.op, q.patience, err)
	}
	w.id++
	return h, refusal
}

// reply reads the answer to a request: told is what the peer says instead of one.
func (w *wire) reply(q *request) (h header, refusal, err error) {
	if h, err = w.in.next(); err != nil {
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
	case id != w.id:
		return nil, nil, fmt.Errorf("the reply has id %d, not %d", id, w.id)
	}
	if _, ok := h["error"]; ok {
		if refusal, err = w.refusal(q.op, h); err != nil {
			return nil, nil, err
		}
		return nil, refusal, w.in.end()
	}
	return h, nil, w.answer(q, h)
}

// answer reads what a reply has: the time that it took, a loss, and a vector.
func (w *wire) answer(q *request, h header) error {
	ms, err := h.number("ms")
	if err != nil {
		return err
	}
	if ms > 0 && ms < float64(math.MaxInt64/int64(time.Millisecond)) {
		w.spent.Add(int64(ms * float64(time.Millisecond)))
	}
	if q.loss {
		if _, err := h.required("loss"); err != nil {
			return err
		}
	}
	if q.want == "" {
		return w.in.end()
	}
	v, err := w.in.vector(q.want, w.dtype, len(q.dst))
	switch {
	case err != nil:
	case !v.Map:
		err = w.in.floats(q.dst, w.dtype)
	case w.mapped == nil:
		err = fmt.Errorf("vector %s is said to be in a mapped file, and there is none", q.want)
	default:
		err = w.mapped.read(q.dst, q.want, v, w.dtype)
	}
	if err != nil {
		return err
	}
	return w.in.end()
}

// step reads what an observed peer says of itself.
func (w *wire) step() (s Step, err error) {
	h, err := w.in.next()
	if err != nil {
		return s, midway(err)
	}
	if op, _ := h.text("op"); op != "step" {
		return s, fmt.Errorf("it sends %.20q where a step was due", op)
	}
	if s.Step, err = h.count("step", 0); err != nil {
		return s, err
	}
	for _, f := range []field{{"loss", &s.Loss}, {"rate", &s.Rate}, {"momentum", &s.Momentum},
		{"pause", &s.Pause}} {
		if *f.dst, err = h.number(f.key); err != nil {
			return s, err
		}
	}
	if s.Optimizer, err = h.text("optimizer"); err != nil {
		return s, err
	}
	s.Optimizer = line(s.Optimizer)
	return s, w.in.end()
}
