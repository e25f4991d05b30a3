package umbridge

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// model is one of a server. What is nil it does not support.
type model struct {
	name     string
	inputs   []int
	outputs  []int
	evaluate func(x [][]float64) []float64
	gradient func(inWrt int, x [][]float64, sens []float64) []float64
	jacobian func(inWrt int, x [][]float64, vec []float64) []float64
	hessian  func(inWrt1, inWrt2 int, x [][]float64, sens, vec []float64) []float64
	// Python's server compares the length of a product with the Hessian with that of the output.
	checkHessian bool
}

// server speaks UM-Bridge 1.0 as its document says and Python's program does: it reads strictly and prints lists in text/plain.
type server struct {
	t       testing.TB
	models  []model
	version string              // as it is printed; empty: 1.0
	edit    func(string) string // of outputs
	asked   map[string]int
	busy    atomic.Int32
}

func (s *server) start() string {
	s.asked = map[string]int{}
	web := httptest.NewServer(s)
	s.t.Cleanup(web.Close)
	return web.URL
}

// asking is a body, whose numbers keep their text.
type asking struct {
	Name                          string
	Config                        map[string]any
	Input                         [][]json.Number
	InWrt, OutWrt, InWrt1, InWrt2 *int
	Sens, Vec                     []json.Number
	x                             [][]float64
	sens, vec                     []float64
}

func (s *server) floats(text []json.Number) []float64 {
	out := []float64{}
	for _, n := range text {
		if !strings.ContainsAny(n.String(), ".e") {
			s.t.Errorf("%s would be a whole number in Python", n)
		}
		v, err := n.Float64()
		if err != nil {
			s.t.Error(err)
		}
		out = append(out, v)
	}
	return out
}

func fail(w http.ResponseWriter, status int, kind, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"type": kind, "message": message}})
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.busy.Add(1) != 1 && s.edit == nil { // a client need not read all of what is no answer
		s.t.Error("two requests at once")
	}
	defer s.busy.Add(-1)
	s.asked[r.URL.Path]++
	if r.URL.Path == "/Info" {
		if r.Method != http.MethodGet {
			s.t.Errorf("Info by %s", r.Method)
		}
		names := []string{}
		for _, m := range s.models {
			names = append(names, m.name)
		}
		list, _ := json.Marshal(names)
		version := s.version
		if version == "" {
			version = "1.0"
		}
		fmt.Fprintf(w, `{"protocolVersion": %s, "models": %s}`, version, list)
		return
	}
	var a asking
	text, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil || r.Method != http.MethodPost || a.Config == nil {
		s.t.Errorf("%s by %s: %v, config %v", r.URL.Path, r.Method, err, a.Config)
	}
	for _, m := range s.models {
		if m.name == a.Name {
			s.answer(w, r.URL.Path, &m, &a)
			return
		}
	}
	fail(w, 400, "ModelNotFound", "Model "+a.Name+" not supported by this server!")
}

func (s *server) answer(w http.ResponseWriter, path string, m *model, a *asking) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	switch path {
	case "/InputSizes":
		_ = json.NewEncoder(w).Encode(map[string]any{"inputSizes": m.inputs})
		return
	case "/OutputSizes":
		_ = json.NewEncoder(w).Encode(map[string]any{"outputSizes": m.outputs})
		return
	case "/ModelInfo":
		_ = json.NewEncoder(w).Encode(map[string]any{"support": map[string]bool{
			"Evaluate": m.evaluate != nil, "Gradient": m.gradient != nil, "ApplyJacobian": m.jacobian != nil, "ApplyHessian": m.hessian != nil,
		}})
		return
	}
	if len(a.Input) != len(m.inputs) {
		fail(w, 400, "InvalidInput", "Number of input parameters does not match model number of model inputs!")
		return
	}
	for i, v := range a.Input {
		if len(v) != m.inputs[i] {
			fail(w, 400, "InvalidInput", fmt.Sprintf("Input parameter %d has invalid length! Expected %d but got %d.", i, m.inputs[i], len(v)))
			return
		}
		a.x = append(a.x, s.floats(v))
	}
	out, ok := s.output(w, path, m, a)
	if !ok {
		return
	}
	printed := strings.ReplaceAll(fmt.Sprintf("%.17g", out), " ", ", ")
	printed = strings.NewReplacer("NaN", "nan", "+Inf", "inf", "-Inf", "-inf").Replace(printed)
	if path == "/Evaluate" {
		printed = "[" + printed + "]"
	}
	if s.edit != nil {
		printed = s.edit(printed)
	}
	fmt.Fprintf(w, `{"output": %s }`, printed)
}

// output computes it, of vectors whose lengths are as they should be.
func (s *server) output(w http.ResponseWriter, path string, m *model, a *asking) ([]float64, bool) {
	if path == "/Evaluate" {
		out := m.evaluate(a.x)
		if out == nil { // an exception in the model
			http.Error(w, "500 Internal Server Error\n\nServer got itself in trouble", 500)
		}
		return out, out != nil
	}
	if a.OutWrt == nil || *a.OutWrt != 0 {
		s.t.Errorf("%s: outWrt %v", path, a.OutWrt)
	}
	a.sens, a.vec = s.floats(a.Sens), s.floats(a.Vec)
	if path != "/ApplyJacobian" && len(a.sens) != m.outputs[0] {
		fail(w, 400, "InvalidInput", "Sensitivity vector sens has invalid length!")
		return nil, false
	}
	var out []float64
	switch path {
	case "/Gradient":
		out = m.gradient(*a.InWrt, a.x, a.sens)
	case "/ApplyJacobian":
		if len(a.vec) != m.inputs[*a.InWrt] {
			fail(w, 400, "InvalidInput", "Vector vec has invalid length!")
			return nil, false
		}
		out = m.jacobian(*a.InWrt, a.x, a.vec)
	case "/ApplyHessian":
		out = m.hessian(*a.InWrt1, *a.InWrt2, a.x, a.sens, a.vec)
		if m.checkHessian && len(out) != m.outputs[0] {
			fail(w, 500, "InvalidOutput", fmt.Sprintf("Output vector has invalid length! Model declared %d but returned %d.", m.outputs[0], len(out)))
			return nil, false
		}
	default:
		s.t.Errorf("asks %s", path)
	}
	if out == nil {
		http.Error(w, "500 Internal Server Error", 500)
	}
	return out, out != nil
}
