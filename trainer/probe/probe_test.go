package probe

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"newtop/models"
	"newtop/models/blas"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/peer"
	"newtop/trainer/peer/peertest"
)

func TestMain(m *testing.M) {
	blas.Use()
	goleak.VerifyTestMain(m)
}

// A program that offers looks is looked at, and goes on with the weights that it has.
func TestLooks(t *testing.T) {
	for _, waits := range []bool{false, true} {
		t.Run(fmt.Sprint("waits ", waits), func(t *testing.T) { testLooks(t, waits) })
	}
}

// testLooks has a program look for newtop, or wait for it.
func testLooks(t *testing.T, waits bool) {
	problem, err := trainer.Prepare((&trainer.Config{Data: "spirals", Hidden: []int{4}}))
	if err != nil {
		t.Fatal(err)
	}
	s := &peertest.Server{Problem: problem, Start: make([]float64, problem.Dim())}
	problem.InitTo(s.Start, rand.New(rand.NewPCG(1, 1)))
	var ticks atomic.Int64
	o := Options{Share: 1, now: func() time.Time { return time.UnixMicro(ticks.Add(1)) }}
	var mu sync.Mutex // of want
	want := map[int][]float64{}
	train := func(step int, w []float64) {
		for i := range w {
			w[i] += 0.01 * float64(step)
		}
		l := problem.Bind(objective.Rows{}, models.Options{})
		l.Update(w)
		exact := peertest.Eigenvalues(t, l)
		mu.Lock()
		want[step] = exact
		mu.Unlock()
	}
	p, ended := lookedAt(t, o, waits, func(c net.Conn) error { return s.Observe(c, 3, train) })
	defer p.Close()
	looks := 0
	row := map[string]any{}
	for lines := bufio.NewScanner(p.Lines()); lines.Scan(); {
		text := lines.Bytes()
		e, err := event.DecodeEvent(text)
		spectrum, ok := e.(event.SpectrumEvent)
		if err != nil || !ok {
			if c, said := e.(event.ConsoleEvent); said {
				t.Error(c.Text)
			}
			if err := json.Unmarshal(text, &row); err != nil {
				t.Fatal(err)
			}
			continue
		}
		looks++
		mu.Lock()
		exact := want[spectrum.Epoch]
		mu.Unlock()
		top := float64(spectrum.Eigenvalues[0])
		if d := math.Abs(top - exact[len(exact)-1]); d > 1e-3*top {
			t.Errorf("step %d: λ %g, exactly %g", spectrum.Epoch, top, exact[len(exact)-1])
		}
		if edge, ok := row["curvature/edge"].(float64); !ok || math.Abs(edge-top*0.1/3.8) > 1e-12 {
			t.Errorf("step %d: edge %v of λ %g", spectrum.Epoch, row["curvature/edge"], top)
		}
		if _, told := row["loss"]; told != waits {
			t.Errorf("a row has a loss: %v", told)
		}
		if row["step"] != float64(spectrum.Epoch) || row["curvature/products"] != float64(spectrum.Products) {
			t.Errorf("a row of step %v with %v products, beside %d and %d", row["step"], row["curvature/products"], spectrum.Epoch, spectrum.Products)
		}
	}
	if err := <-ended; err != nil || looks == 0 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

// lookedAt returns a Prober of a program, and how that ends.
func lookedAt(t *testing.T, o Options, waits bool, observe func(net.Conn) error) (p *Prober, ended chan error) {
	t.Helper()
	ended = make(chan error, 1)
	if !waits {
		p, err := Start(o)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("unix", socketOf(p))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			ended <- observe(conn)
			p.Close()
		}()
		return p, ended
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = observe(conn)
		}
		ended <- err
	}()
	if p, err = Dial(t.Context(), path, o); err != nil {
		t.Fatal(err)
	}
	return p, ended
}

// A program that serves its model is told how that is trained, and goes on.
func TestServedModel(t *testing.T) {
	problem, err := trainer.Prepare((&trainer.Config{Data: "spirals", Hidden: []int{4}}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Options{Model: "model.py"})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		s := &peertest.Server{Problem: problem, Start: make([]float64, problem.Dim())}
		ended <- s.Call(socketOf(p))
		p.Close()
	}()
	lines := bufio.NewScanner(p.Lines())
	for lines.Scan() {
		e, err := event.DecodeEvent(lines.Bytes())
		if want := "newtop: this program serves a model: newtop --model model.py"; err != nil || e.(event.ConsoleEvent).Text != want {
			t.Errorf("%s, want %s", lines.Text(), want)
		}
	}
	if err := <-ended; err != nil {
		t.Errorf("the program is not left in order: %v", err)
	}
}

// A look is worth its time with 60 products, or with what its pause has room for, but not with fewer than eight.
func TestProductsIn(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		allowed, pause, perProduct time.Duration
		want                       int
	}{
		{s, s, ms, 600},
		{100 * ms, s, ms, 100},
		{50 * ms, s, ms, 0},
		{-s, s, ms, 0},
		{s, s, 20 * ms, 50},
		{900 * ms, s, 20 * ms, 0},
		{s, s, 130 * ms, 0},
		{9 * s, 9 * s, 900 * ms, 10},
	} {
		if got := productsIn(c.allowed, c.pause, c.perProduct); got != c.want {
			t.Errorf("%v of %v at %v each: %d products, want %d", c.allowed, c.pause, c.perProduct, got, c.want)
		}
	}
	if short, long := pauseOf(&peer.Step{Pause: math.NaN()}), pauseOf(&peer.Step{Pause: 2.5}); short != s || long != 2500*ms {
		t.Errorf("pauses of %v and %v", short, long)
	}
}

// socketOf is the path at which a program finds the prober.
func socketOf(p *Prober) string {
	for _, v := range p.Environ(nil) {
		if path, ok := strings.CutPrefix(v, peer.SocketVariable+"="); ok {
			return path
		}
	}
	return ""
}

// Layers are the tensors that lie side by side under one name, groups of layers where there are many.
func TestLayers(t *testing.T) {
	var few, many peer.About
	for _, name := range []string{"conv.weight", "conv.bias", "head.0.weight", "head.0.bias", "scale"} {
		few.Blocks = append(few.Blocks, peer.Block{Name: name, Shape: []int{2, 3}})
	}
	var names []string
	for _, b := range layers(&few) {
		names = append(names, b.Name)
	}
	if got := strings.Join(names, " "); got != "conv head.0 scale" {
		t.Errorf("layers %s", got)
	}
	for i := range 40 {
		for _, part := range []string{"attn.weight", "mlp.weight"} {
			many.Blocks = append(many.Blocks, peer.Block{Name: "encoder." + string(rune('a'+i/10)) + "." + part, Shape: []int{1}})
		}
	}
	if got := layers(&many); len(got) > maxLayers || got[len(got)-1].To != 80 {
		t.Errorf("%d layers to %d", len(got), got[len(got)-1].To)
	}
}
