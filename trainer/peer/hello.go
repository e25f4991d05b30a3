package peer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// version is the one version of the protocol that newtop speaks.
const version = 1

// hello is what a peer says of itself.
type hello struct {
	about    About
	dtype    dtype
	observed bool // it owns the weights
	maps     bool // it maps files
}

// greet reads the peer's hello and answers it.
func (w *wire) greet(o *Options) (*hello, error) {
	_ = w.conn.SetDeadline(time.Now().Add(o.Hello)) // a closed connection tells so when it is used
	h, err := w.in.next()
	if err == nil {
		err = w.in.end()
	}
	if err != nil {
		return nil, w.fail("hello", o.Hello, err)
	}
	if op, _ := h.text("op"); op == "error" {
		var e struct{ Message string }
		if err := h.read("error", &e); err == nil {
			return nil, fmt.Errorf("%s: %s", w.name, line(e.Message))
		}
	}
	peer, err := parseHello(h)
	if err != nil {
		return nil, fmt.Errorf("%s: hello: %w", w.name, err)
	}
	about := &peer.about
	w.dtype, w.name = peer.dtype, cmp.Or(o.Name, about.Name, w.name)
	for i := range about.Findings {
		if f := &about.Findings[i]; f.Fatal {
			return nil, fmt.Errorf("%s: %s", w.name, f)
		}
	}
	q := request{op: "welcome", keys: map[string]any{"protocol": version}, patience: o.Answer}
	if peer.maps && o.Map > 0 && about.Dim >= o.Map {
		// Where the machine refuses, vectors go through the socket.
		w.mapped, _ = newMapped(mapSize(int64(about.Dim)*int64(w.dtype.size())), o.Dir)
	}
	if w.mapped != nil {
		q.keys["map"] = map[string]any{"path": w.mapped.path, "size": len(w.mapped.memory)}
		defer w.mapped.unlink()
	}
	if h, err = w.exchange(&q); err != nil {
		return nil, err
	}
	return peer, w.agree(h)
}

// String is the finding on one line, for people.
func (f Finding) String() string {
	text := f.What
	if f.Where != "" {
		text += " (" + f.Where + ")"
	}
	if f.Remedy != "" {
		text += ": " + f.Remedy
	}
	return text
}

// agree forgets the mapped file where the peer can't map it.
func (w *wire) agree(h header) error {
	var took bool
	if err := h.read("map", &took); err != nil {
		return fmt.Errorf("%s: welcome: %w", w.name, err)
	}
	if w.mapped != nil && !took {
		w.mapped.unmap()
		w.mapped = nil
	}
	return nil
}

// parseHello reads what a peer says of itself.
func parseHello(h header) (*hello, error) {
	if op, err := h.text("op"); err != nil || op != "hello" {
		return nil, fmt.Errorf("the first frame is %.20q, not \"hello\"", cmp.Or(op, string(h["op"])))
	}
	if err := speaks(h); err != nil {
		return nil, err
	}
	mode, err := h.text("mode")
	if err != nil || mode != "driven" && mode != "observed" {
		return nil, fmt.Errorf("mode is %.20q, not \"driven\" or \"observed\"", mode)
	}
	peer := &hello{observed: mode == "observed"}
	if err := peer.describe(h); err != nil {
		return nil, err
	}
	return peer, h.read("map", &peer.maps)
}

// speaks says what is wrong with the peer's versions.
func speaks(h header) error {
	var versions []int
	if err := h.read("protocol", &versions); err != nil {
		return err
	}
	if len(versions) != 2 || versions[0] > versions[1] {
		return fmt.Errorf("protocol is %.40s, not the lowest and the highest version",
			cmp.Or(string(h["protocol"]), "missing"))
	}
	if versions[0] > version || versions[1] < version {
		return fmt.Errorf("the peer speaks versions %d to %d of the protocol, newtop %d", versions[0], versions[1],
			version)
	}
	return nil
}

// describe takes what the peer says of its model.
func (p *hello) describe(h header) (err error) {
	a := &p.about
	if a.Dim, err = h.count("n", 1); err != nil {
		return err
	}
	t, err := h.text("dtype")
	if err != nil || t != string(f64) && t != string(f32) {
		return fmt.Errorf("dtype is %.20q, not %q or %q", t, f64, f32)
	}
	p.dtype, a.Single = dtype(t), t == string(f32)
	if int64(a.Dim) > maxBody/int64(p.dtype.size()) {
		return fmt.Errorf("n is %d, more than a body can have", a.Dim)
	}
	if err := h.read("has", &a.Has); err != nil {
		return err
	}
	if a.Has == nil {
		return errors.New("there is no has")
	}
	for _, count := range []struct {
		key string
		dst *int
	}{{"rows", &a.Rows}, {"test_rows", &a.TestRows}, {"classes", &a.Classes}, {"outputs", &a.Outputs}} {
		if *count.dst, err = h.count(count.key, 0); err != nil {
			return err
		}
	}
	for _, text := range []struct {
		key string
		dst *string
	}{{"name", &a.Name}, {"program", &a.Program}, {"loss", &a.Loss}, {"digest", &a.Digest}} {
		if *text.dst, err = h.text(text.key); err != nil {
			return err
		}
		*text.dst = line(*text.dst)
	}
	if err := h.read("batches", &a.Batches); err != nil {
		return err
	}
	rows := 0
	for _, n := range a.Batches {
		if n < 1 || n > a.Rows-rows {
			return fmt.Errorf("the batches have more than the %d rows, or one has none", a.Rows)
		}
		rows += n
	}
	if a.Batches != nil && rows != a.Rows {
		return fmt.Errorf("the batches have %d rows of %d", rows, a.Rows)
	}
	if err := h.read("findings", &a.Findings); err != nil {
		return err
	}
	for i := range a.Findings {
		f := &a.Findings[i]
		f.What, f.Where, f.Remedy = line(f.What), line(f.Where), line(f.Remedy)
	}
	if err := h.read("lacks", &a.Lacks); err != nil {
		return err
	}
	if err := a.divide(h); err != nil {
		return err
	}
	return a.factorize(h)
}

// divide takes the blocks, which have all weights.
func (a *About) divide(h header) error {
	if err := h.read("blocks", &a.Blocks); err != nil {
		return err
	}
	seen, sum := make(map[string]bool, len(a.Blocks)), 0
	for i := range a.Blocks {
		b := &a.Blocks[i]
		b.Name = line(b.Name)
		if seen[b.Name] {
			return fmt.Errorf("two blocks are called %.40q", b.Name)
		}
		seen[b.Name] = true
		size, ok := b.bounded(a.Dim - sum)
		if !ok {
			return fmt.Errorf("the blocks up to %.40q have more than the %d weights, or a shape below 0", b.Name, a.Dim)
		}
		sum += size
	}
	if sum != a.Dim {
		return fmt.Errorf("the blocks have %d weights of %d", sum, a.Dim)
	}
	return nil
}

// factorize takes what there are factors of: layers in the order of the blocks.
func (a *About) factorize(h header) error {
	if !a.Can(HasFactors) {
		return nil
	}
	if err := h.read("factors", &a.Factors); err != nil {
		return err
	}
	next := 0
	for _, l := range a.Factors.Layers {
		i := next + slices.IndexFunc(a.Blocks[next:], func(b Block) bool { return b.Name == line(l.Block) })
		if i < next {
			return fmt.Errorf("factors has the layer %.40q where no block of that name is due", line(l.Block))
		}
		next = i + 1
		switch b := &a.Blocks[i]; l.Kind {
		case "matrix", "table":
			if len(b.Shape) < 2 || b.Size() == 0 {
				return fmt.Errorf("factors has %.40q, a %s of shape %v", b.Name, l.Kind, b.Shape)
			}
			if l.Bias {
				if next == len(a.Blocks) || a.Blocks[next].Size() != b.Shape[0] {
					return fmt.Errorf("factors has biases of %.40q, which don't follow it", b.Name)
				}
				next++
			}
		case "diagonal":
		default:
			return fmt.Errorf("factors has a layer of kind %.20q, not matrix, table or diagonal", l.Kind)
		}
	}
	if a.Factors.Draws < 1 || next == 0 {
		return errors.New("factors has no layers, or no draws")
	}
	return nil
}

// bounded returns how many weights the block has if these are at most that many, however long its sides are.
func (b *Block) bounded(most int) (int, bool) {
	n := 1
	for _, side := range b.Shape {
		if side < 0 {
			return 0, false
		}
		if side == 0 {
			n = 0
		}
	}
	for _, side := range b.Shape {
		if n != 0 && side > most/n {
			return 0, false
		}
		n *= side
	}
	return n, n <= most
}
