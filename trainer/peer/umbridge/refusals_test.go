package umbridge

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"newtop/trainer/peer"
)

// One clear line for each thing that can be wrong.
func TestRefusals(t *testing.T) {
	with := func(change func(*model)) []model {
		m := banana(1)
		change(&m)
		return []model{m}
	}
	for _, c := range []struct {
		name string
		s    *server
		o    Options
		want string
	}{
		{"no models", &server{}, Options{}, "has no models"},
		{"old", &server{models: with(func(*model) {}), version: "0.9"}, Options{}, `protocol 0.9: expected 1.0`},
		{"two outputs", &server{models: with(func(m *model) { m.outputs = []int{1, 2} })}, Options{}, "has 2 output vectors: expected one"},
		{"no gradient", &server{models: with(func(m *model) { m.gradient = nil })}, Options{}, "expected a model with Evaluate and Gradient: banana has Evaluate, ApplyHessian only"},
		{"large", &server{models: with(func(m *model) { m.inputs = []int{60_000, 60_000} })}, Options{}, "has vectors of 120000 numbers: expected at most 100000; the binary protocol of docs/peer.md takes more"},
		{"negative", &server{models: with(func(m *model) { m.inputs = []int{-1} })}, Options{}, "a vector of -1 numbers"},
		{"empty", &server{models: with(func(m *model) { m.inputs = []int{0} })}, Options{}, "has 0 inputs"},
		{"squares", &server{models: []model{decay()}}, Options{Maximize: true}, "expected one number to maximize"},
		{"start", &server{models: with(func(*model) {})}, Options{Start: []float64{1}}, "has 2 weights: the start has 1"},
		{"exception", &server{models: with(func(m *model) { m.evaluate = func([][]float64) []float64 { return nil } })}, Options{}, "umbridge: /Evaluate: HTTP 500: Internal Server Error"},
		{"length", &server{models: with(func(m *model) {
			m.gradient = func(int, [][]float64, []float64) []float64 { return []float64{1, 2, 3} }
		})}, Options{}, "/Gradient: expected an output of 2 numbers, found 3"},
		{"text", &server{models: with(func(*model) {}), edit: func(string) string { return "[[1.5], banana\x1b[2J]" }}, Options{}, "/Evaluate: expected an answer of UM-Bridge 1.0, found {"},
		{"vectors", &server{models: with(func(*model) {}), edit: func(string) string { return "[]" }}, Options{}, "expected one output vector, found 0"},
		{"long", &server{models: with(func(*model) {}), edit: func(string) string { return strings.Repeat(" ", 2<<20) + "[[1]]" }}, Options{}, "expected an answer of at most"},
	} {
		c.s.t = t
		_, err := Dial(t.Context(), c.s.start(), c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n\x1b") || !strings.HasPrefix(err.Error(), "umbridge: ") {
			t.Errorf("%s: %v: expected %s", c.name, err, c.want)
		}
	}
	for _, address := range []string{"", "ftp://host/x", "http:///banana", "http://host:4242/a?b=c", "http://[::1"} {
		if _, err := Dial(t.Context(), address, Options{}); err == nil || !strings.Contains(err.Error(), "expected an address") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestErrorObjects(t *testing.T) {
	kind := "UnsupportedFeature"
	good := &server{t: t, models: []model{banana(1)}}
	good.start()
	broken := false
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken {
			fail(w, 400, kind, "not\ntoday")
			return
		}
		good.ServeHTTP(w, r)
	}))
	defer web.Close()
	c, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	broken = true
	if _, err := c.Loss(nil); !errors.Is(err, peer.ErrUnsupported) || err.Error() != "umbridge: /Evaluate: UnsupportedFeature: not" {
		t.Errorf("unsupported: %v", err)
	}
	broken = false
	_, err = c.Loss(nil)
	do(t, err)
	broken, kind = true, "InvalidInput"
	if _, err := c.Loss(nil); err == nil || errors.Is(err, peer.ErrUnsupported) || err.Error() != "umbridge: /Evaluate: InvalidInput: not" {
		t.Errorf("invalid: %v", err)
	}
	broken = false
	if err := c.At([]float64{1, 2}); err == nil {
		t.Error("the client goes on after an error")
	}
}

func TestSlowServer(t *testing.T) {
	good := &server{t: t, models: []model{banana(1)}}
	good.start()
	slow, release := false, make(chan struct{})
	asked := make(chan struct{}, 1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slow {
			asked <- struct{}{}
			<-release
			return
		}
		good.ServeHTTP(w, r)
	}))
	defer web.Close()
	defer close(release)
	c, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	canceled, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	slow = true
	c.timeout = 20 * time.Millisecond
	if _, err := c.Loss(nil); err == nil || !strings.Contains(err.Error(), "no answer to /Evaluate from ") || !strings.HasSuffix(err.Error(), "for 20ms (ModelTimeout)") {
		t.Errorf("timeout: %v", err)
	}
	<-asked
	go func() {
		<-asked
		canceled.cancel()
	}()
	if _, err := canceled.Loss(nil); err == nil || err.Error() != "umbridge: /Evaluate: context canceled" {
		t.Errorf("canceled: %v", err)
	}
}

func TestGoneServer(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	if _, err := Dial(t.Context(), web.URL, Options{}); err == nil || err.Error() != "umbridge: /Info: HTTP 404: page not found" {
		t.Errorf("another server: %v", err)
	}
	web.Close()
	if _, err := Dial(t.Context(), web.URL, Options{}); err == nil || !strings.Contains(err.Error(), "umbridge: /Info: no answer from 127.0.0.1:") {
		t.Errorf("no server: %v", err)
	}
	c := dial(t, &server{models: []model{banana(1)}}, Options{})
	do(t, c.Close())
	do(t, c.Close())
	if _, err := c.Loss(nil); err == nil || err.Error() != "umbridge: closed" {
		t.Errorf("closed: %v", err)
	}
}

func TestConnectionsThatClose(t *testing.T) {
	good := &server{t: t, models: []model{banana(1)}}
	good.start()
	last := ""
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header["Idempotency-Key"] != nil {
			t.Error("a header that the protocol does not know")
		}
		if r.RemoteAddr == last {
			connection, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				err = connection.Close()
			}
			if err != nil {
				t.Error(err)
			}
			return
		}
		last = r.RemoteAddr
		good.ServeHTTP(w, r)
	}))
	defer web.Close()
	c, err := Dial(t.Context(), web.URL, Options{})
	do(t, err)
	f, err := c.Loss([]float64{-1, 2})
	do(t, err)
	wantVector(t, "loss", []float64{f.Loss}, []float64{104})
}
