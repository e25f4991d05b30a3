// Package peertest serves newtop's own networks as models that another program has, over the protocol of docs/peer.md,
// so that a run with one can be held against the run without.
package peertest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/objective"
)

// Server serves one model to one client after the other.
type Server struct {
	Problem *objective.Problem
	Start   []float64 // the weights that it begins with

	mu     sync.Mutex // of manners, kept and told
	manner Manner
	kept   []float64 // what set last brought
	told   int       // events

	now         Manner // to the client that is there
	train, test objective.Linearization
	batch       *models.Batch
	whole       *objective.Objective
	part        *objective.Objective // some rows, where the point is over these; nil: all
	point       []float64            // of part
	requests    int
	observed    bool
}

// Manner is how a Server behaves.
type Manner struct {
	Has    []string // requests that it answers; nil: all that it can
	Single bool     // whether vectors have 24 bits
	Bare   bool     // it tells losses alone
	Break  int      // after how many requests it closes the connection; 0: never
}

// Behave changes how the server behaves to the clients that come.
func (s *Server) Behave(m Manner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.manner = m
}

// Left returns the weights that a client has set last, and of how many events it has told.
func (s *Server) Left() (kept []float64, told int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept, s.told
}

// Serve listens until the test ends, and returns what --model takes.
func (s *Server) Serve(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "newtop-peer-")
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, "peer")
	l, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan struct{})
	tb.Cleanup(func() {
		l.Close()
		<-done
		os.RemoveAll(dir)
	})
	s.bind()
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			var left *net.OpError // a run that was told to end waits for no answer
			if err := s.attend(c); err != nil && s.now.Break == 0 && !errors.As(err, &left) {
				tb.Errorf("peer: %v", err)
			}
			c.Close()
		}
	}()
	return "unix:" + path
}

// Observe offers a newtop a look at that many steps, before each of which it calls train with the weights, that is to
// change them.
func (s *Server) Observe(c net.Conn, steps int, train func(step int, w []float64)) error {
	defer c.Close()
	s.bind()
	s.observed = true
	if err := s.greet(c); err != nil {
		return err
	}
	for step := range steps {
		train(step+1, s.Start)
		s.train.Update(s.Start)
		if err := s.send(c, map[string]any{"op": "step", "step": step + 1, "loss": s.train.Loss(), "rate": 0.1,
			"momentum": 0.9}, "", nil); err != nil {
			return err
		}
		if err := s.converse(c); err != nil {
			return err
		}
	}
	return nil
}

// Call connects to a newtop that listens at a path, and answers it until it says stop.
func (s *Server) Call(path string) error {
	s.bind()
	c, err := net.Dial("unix", path)
	if err != nil {
		return err
	}
	defer c.Close()
	return s.attend(c)
}

func (s *Server) bind() {
	p := s.Problem
	s.train = p.Bind(objective.Rows{}, models.Options{})
	if p.Test.Rows() > 0 {
		s.test = p.Bind(objective.Rows{Part: datasets.Test}, models.Options{})
	}
	s.batch = p.Network.NewBatch(p.Train.X, p.Train.T, p.Train.Rows())
	s.whole, s.part = objective.Bind(p, p, objective.Rows{}, &objective.Work{}, models.Options{}), nil
}

// message is a frame: its head, and its vectors by name.
type message struct {
	header map[string]any
	w      map[string][]float64
	rows   []int
}

func (s *Server) attend(c net.Conn) error {
	s.requests = 0
	s.mu.Lock()
	s.now = s.manner
	s.mu.Unlock()
	if err := s.greet(c); err != nil {
		if err == io.EOF {
			return nil
		}
		return err
	}
	return s.converse(c)
}

// greet says hello.
func (s *Server) greet(c net.Conn) error {
	p, mode := s.Problem, "driven"
	if s.observed {
		mode = "observed"
	}
	has := s.now.Has
	if has == nil {
		has = []string{"grad", "hv", "gnv", "diag", "rows", "event", "sample"}
		if len(p.Data.Classes) > 0 {
			has = append(has, "factors")
		}
		if s.test != nil {
			has = append(has, "eval")
		}
	}
	var blocks, layers []map[string]any
	at := 0
	for _, b := range p.Network.Blocks() { // whatever lies between blocks is biases
		if b.Offset > at {
			blocks = append(blocks, map[string]any{"name": fmt.Sprint("bias", at), "shape": []int{b.Offset - at}})
		}
		blocks = append(blocks, map[string]any{"name": fmt.Sprintf("weight%d", b.To), "shape": []int{b.Rows, b.Cols}})
		layers = append(layers, map[string]any{"block": fmt.Sprintf("weight%d", b.To), "kind": "matrix", "bias": true})
		at = b.Offset + b.Size()
	}
	if at < p.Network.Dim() {
		blocks = append(blocks, map[string]any{"name": fmt.Sprint("bias", at), "shape": []int{p.Network.Dim() - at}})
	}
	hello := map[string]any{
		"op": "hello", "protocol": []int{1, 1}, "mode": mode, "name": "twin", "program": "newtop's own",
		"n": p.Network.Dim(), "dtype": s.dtype(),
		"blocks": blocks, "has": has, "rows": p.Train.Rows(), "test_rows": p.Test.Rows(),
		"classes": len(p.Data.Classes), "outputs": p.Network.Outputs(),
		"factors": map[string]any{"draws": 1, "layers": layers},
	}
	if err := s.send(c, hello, "", nil); err != nil {
		return err
	}
	welcome, err := s.receive(c)
	if err != nil {
		return err
	}
	_, err = s.answer(c, welcome)
	return err
}

// converse answers until newtop has no more to ask for.
func (s *Server) converse(c net.Conn) error {
	for {
		m, err := s.receive(c)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if s.requests++; s.now.Break > 0 && s.requests > s.now.Break {
			return nil
		}
		over, err := s.answer(c, m)
		if over || err != nil {
			return err
		}
	}
}

// answer answers a request, and reports whether it was the last.
func (s *Server) answer(c net.Conn, m *message) (over bool, err error) {
	reply, name := map[string]any{"id": m.header["id"]}, ""
	out := make([]float64, s.Problem.Network.Dim())
	figures := func(e models.Evaluation) {
		if reply["loss"] = number(e.Loss); s.now.Bare {
			return
		}
		reply["rmse"] = number(e.RMSE())
		if s.Problem.Data.Classes != nil {
			reply["error_rate"] = e.Error()
		}
	}
	switch op := m.header["op"]; op {
	case "on":
		return true, nil
	case "welcome":
	case "stop":
		over = true
	case "event":
		s.mu.Lock()
		s.told++
		s.mu.Unlock()
	case "get":
		name = "w"
		copy(out, s.Start)
		s.train.Update(out)
	case "at":
		if s.part = nil; m.rows != nil {
			s.part, s.point = s.whole.Sample(0, m.rows).(*objective.Objective), m.w["w"]
			break
		}
		s.train.Update(m.w["w"])
	case "set":
		s.mu.Lock()
		s.kept = m.w["w"]
		s.mu.Unlock()
	case "factors":
		name, out = "factors", s.factors(m)
	case "loss":
		if m.rows != nil {
			figures(s.whole.Sample(1, m.rows).(*objective.Objective).Evaluate(m.w["w"]))
		} else if w := m.w["w"]; w != nil {
			figures(s.train.EvaluateAt(w))
		} else {
			figures(s.train.Evaluation())
		}
	case "eval":
		figures(s.test.EvaluateAt(m.w["w"]))
	case "grad":
		name = "g"
		switch {
		case m.rows != nil:
			reply["loss"] = number(s.batch.GradientTo(out, m.w["w"], m.rows))
		case m.w["w"] != nil:
			beside := s.Problem.Bind(objective.Rows{}, models.Options{})
			beside.Update(m.w["w"])
			beside.GradientTo(out)
			reply["loss"] = number(beside.Loss())
		case s.part != nil:
			reply["loss"] = number(s.part.GradientTo(out, s.point))
		default:
			s.train.GradientTo(out)
			figures(s.train.Evaluation())
		}
	case "hv":
		name = "hv"
		s.train.HessianTo(out, m.w["v"])
	case "gnv":
		name = "gnv"
		if s.part != nil {
			s.part.GaussNewton(s.point).MulVecTo(out, m.w["v"])
		} else {
			s.train.GaussNewtonTo(out, m.w["v"])
		}
	case "diag":
		name = "diag"
		s.train.GaussNewtonDiagTo(out)
	default:
		reply["error"] = map[string]string{"kind": "unsupported", "message": fmt.Sprint("there is no ", op)}
	}
	return over, s.send(c, reply, name, out)
}

// factors returns those of all layers, of classes that the numbers of the request draw.
func (s *Server) factors(m *message) (out []float64) {
	all := s.Problem.Network.NewFactors(math.MaxInt)
	for i, sizes := range m.header["sizes"].([]any) {
		f := &all[i/2].Inputs
		if i%2 == 1 {
			f = &all[i/2].Outputs
		}
		*f = make([]float64, int(sizes.(float64)))
	}
	s.batch.FactorsTo(all, m.w["w"], m.rows, rand.New((*replay)(&message{w: m.w})))
	for _, f := range all {
		out = append(append(out, f.Inputs...), f.Outputs...)
	}
	return out
}

// replay has rand.Rand.Float64 return the numbers of a request.
type replay message

func (r *replay) Uint64() uint64 {
	x := r.w["draws"][0]
	r.w["draws"] = r.w["draws"][1:]
	return uint64(x * (1 << 53))
}

func number(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "NaN"
	}
	return v
}

func (s *Server) dtype() string {
	if s.now.Single {
		return "F32"
	}
	return "F64"
}

// send writes a frame with at most one vector.
func (s *Server) send(w io.Writer, head map[string]any, name string, v []float64) error {
	var body []byte
	if name != "" {
		for _, x := range v {
			if s.now.Single {
				body = binary.LittleEndian.AppendUint32(body, math.Float32bits(float32(x)))
			} else {
				body = binary.LittleEndian.AppendUint64(body, math.Float64bits(x))
			}
		}
		head["vectors"] = map[string]any{name: map[string]any{"dtype": s.dtype(), "shape": []int{len(v)},
			"data_offsets": []int{0, len(body)}}}
	}
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	frame := binary.LittleEndian.AppendUint32([]byte("NTP1"), uint32(len(text)))
	frame = binary.LittleEndian.AppendUint64(frame, uint64(len(body)))
	_, err = w.Write(append(append(frame, text...), body...))
	return err
}

func (s *Server) receive(r io.Reader) (*message, error) {
	begin := make([]byte, 16)
	if _, err := io.ReadFull(r, begin); err != nil {
		return nil, err
	}
	if string(begin[:4]) != "NTP1" {
		return nil, fmt.Errorf("magic %q", begin[:4])
	}
	text := make([]byte, binary.LittleEndian.Uint32(begin[4:]))
	body := make([]byte, binary.LittleEndian.Uint64(begin[8:]))
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, err
	}
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	m := &message{w: map[string][]float64{}}
	var vectors struct {
		Vectors map[string]struct {
			Dtype   string `json:"dtype"`
			Offsets [2]int `json:"data_offsets"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(text, &m.header); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		return nil, err
	}
	for name, v := range vectors.Vectors {
		part := body[v.Offsets[0]:v.Offsets[1]]
		switch v.Dtype {
		case "I64":
			for ; len(part) > 0; part = part[8:] {
				m.rows = append(m.rows, int(binary.LittleEndian.Uint64(part)))
			}
		case "F32":
			for ; len(part) > 0; part = part[4:] {
				m.w[name] = append(m.w[name], float64(math.Float32frombits(binary.LittleEndian.Uint32(part))))
			}
		default:
			for ; len(part) > 0; part = part[8:] {
				m.w[name] = append(m.w[name], math.Float64frombits(binary.LittleEndian.Uint64(part)))
			}
		}
	}
	return m, nil
}
