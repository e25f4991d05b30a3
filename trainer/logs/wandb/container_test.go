package wandb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// writer writes the container by its layout.
type writer struct{ bytes.Buffer }

func newWriter(ident string, magic uint16, version byte) *writer {
	w := &writer{}
	w.WriteString(ident)
	w.Write(append(binary.LittleEndian.AppendUint16(nil, magic), version))
	return w
}

func wandbFile(records ...[]byte) *writer {
	w := newWriter(":W&B", 0xbee1, 0)
	for _, r := range records {
		w.record(r)
	}
	return w
}

func (w *writer) record(data []byte) {
	for started := false; ; started = true {
		left := 32768 - w.Len()%32768
		if left < 7 {
			w.Write(make([]byte, left))
			left = 32768
		}
		n := min(len(data), left-7)
		kind := byte(1)
		switch whole := n == len(data); {
		case started && whole:
			kind = 4
		case started:
			kind = 3
		case !whole:
			kind = 2
		}
		typed := append([]byte{kind}, data[:n]...)
		head := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(typed))
		w.Write(binary.LittleEndian.AppendUint16(head, uint16(n)))
		w.Write(typed)
		if data = data[n:]; len(data) == 0 {
			return
		}
	}
}

// numbered is a file with records that reach over blocks, and end in a block's last bytes.
func numbered(n int) *writer {
	w := wandbFile()
	for i := range n {
		size := []int{10, 3000, 70000, 11}[i%4]
		if i%5 == 4 { // leave 0 to 6 bytes of a block
			size = 32768 - w.Len()%32768 - 7 - i%7 - 80
		}
		w.record(append(history("a", fmt.Sprint(i), "_step", fmt.Sprint(i)), message(19, bytes.Repeat([]byte{'x'}, max(size, 0)))...))
	}
	return w
}

func steps(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("step %d a=%d", i, i))
	}
	return out
}

func TestRecordsOverBlocks(t *testing.T) {
	r, _ := open(t, numbered(60).Bytes())
	s := told{}
	drain(t, r, &s)
	for i := range s.log {
		if s.log[i] == "W&B" {
			t.Error("told of a run")
		}
	}
	s.expect(t, steps(60)...)
}

// However the file grows, the same is read, and at once.
func TestTornTails(t *testing.T) {
	w := numbered(8)
	before := w.Len()
	w.record(history("a", "8", "_step", "8"))
	w.record(append(history("a", "9", "_step", "9"), message(19, bytes.Repeat([]byte{'x'}, 40000))...))
	data := w.Bytes()
	for cut := before - 200; cut < len(data); cut++ {
		if cut > before+300 && cut < len(data)-300 && cut%997 != 0 && cut%32768 > 20 {
			continue
		}
		r, path := open(t, data[:cut])
		var s told
		drain(t, r, &s)
		if r.Warning() != "" || len(s.log) > 9 || len(s.log) < 6 {
			t.Fatalf("cut at byte %d: %d rows, %q", cut, len(s.log), r.Warning())
		}
		write(t, path, data)
		drain(t, r, &s)
		if s.expect(t, steps(10)...); t.Failed() {
			t.Fatalf("cut at byte %d", cut)
		}
		r.Close()
	}
}

func TestFileThatGrowsByteByByte(t *testing.T) {
	data := wandbFile(message(17, text(1, "x")), history("a", "1", "_step", "1"), history("a", "2", "_step", "2"), message(18)).Bytes()
	r, path := open(t, nil)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var s told
	for i := range data {
		f.Write(data[i : i+1])
		drain(t, r, &s)
		if i == headerSize && !strings.Contains(r.Warning(), "may take some minutes") {
			t.Errorf("an empty run warns %q", r.Warning())
		}
	}
	s.expect(t, "W&B x", "step 1 a=1", "step 2 a=2", "end 1 ")
}

func TestDamage(t *testing.T) {
	w := wandbFile()
	var at []int
	for i := 0; i < 3000; i++ {
		at = append(at, w.Len())
		w.record(history("a", fmt.Sprint(i), "_step", fmt.Sprint(i)))
	}
	data := w.Bytes()
	data[at[100]+12] ^= 1 // in the first block
	r, _ := open(t, data)
	var s told
	drain(t, r, &s)
	next := slices.IndexFunc(at, func(p int) bool { return p >= 32768 })
	want := slices.Concat(steps(3000)[:100], steps(3000)[next:])
	if !slices.Equal(s.log, want) {
		t.Errorf("%d rows, the 101st %q: expected %d and %q", len(s.log), s.log[100], len(want), want[100])
	}
	if !strings.Contains(r.Warning(), "one damaged place") {
		t.Errorf("warning %q", r.Warning())
	}
	// In the last block, it may be one that is being written.
	data[at[100]+12] ^= 1
	data[at[2990]+12] ^= 1
	r, path := open(t, data)
	s = told{}
	drain(t, r, &s)
	if len(s.log) != 2990 || !strings.Contains(r.Warning(), "one damaged place") {
		t.Errorf("%d rows, %q", len(s.log), r.Warning())
	}
	data[at[2990]+12] ^= 1
	write(t, path, data)
	drain(t, r, &s)
	if s.expect(t, steps(3000)...); r.Warning() != "" {
		t.Errorf("mended, but %q", r.Warning())
	}
}

func TestARewrittenFileBeginsAnew(t *testing.T) {
	r, path := open(t, wandbFile(history("a", "1"), history("a", "2")).Bytes())
	var s told
	drain(t, r, &s)
	write(t, path, wandbFile(history("a", "3")).Bytes())
	if _, err := r.Read(context.Background(), &s); err != logs.ErrRestart {
		t.Fatalf("%v: expected ErrRestart", err)
	}
	s = told{}
	drain(t, r, &s)
	s.expect(t, "a=3")
}

func FuzzContainer(f *testing.F) {
	f.Add(wandbFile(message(17, text(1, "x")), history("a", "1", "b", `{"c": NaN}`), message(18)).Bytes(), 100, uint32(0))
	f.Add(numbered(6).Bytes(), 30000, uint32(50000))
	f.Add(newWriter(":SWL", 0xe1d6, 2).Bytes(), 3, uint32(2))
	f.Add([]byte("no run"), 1, uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, step int, flip uint32) {
		if len(data) > 7 {
			data[7+int(flip)%(len(data)-7)] ^= byte(flip >> 8)
		}
		step = max(step&0x3fff, len(data)/8, 1)
		path := filepath.Join(t.TempDir(), "run-x.wandb")
		write(t, path, data)
		whole, err := Open(files.Here(path))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of two lines: %v", err)
			}
			return
		}
		defer whole.Close()
		var all, parts told
		drain(t, whole, &all)
		// However the file grows, the same records come.
		write(t, path+"2", data[:min(step, len(data))])
		r, err := Open(files.Here(path + "2"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for n := 0; n < len(data); n += step {
			write(t, path+"2", data[:min(n+step, len(data))])
			drain(t, r, &parts)
		}
		if r.Warning() != whole.Warning() && strings.ReplaceAll(r.Warning(), "x.wandb2", "x.wandb") != whole.Warning() || parts.values != all.values {
			t.Fatalf("at once %d values and %q, in parts of %d %d and %q", all.values, whole.Warning(), step, parts.values, r.Warning())
		}
		// As one record, so that the fuzzer need not find CRCs.
		for _, w := range []*writer{wandbFile(data), newWriter(":SWL", 0xe1d6, 2)} {
			w.record(data)
			one := &reader{config: map[string]any{}, labels: map[string]string{}, c: container{f: bytes.NewReader(w.Bytes())}, to: &told{}}
			if record, err := one.c.next(); err == nil {
				one.decode(record)
			}
		}
	})
}

func BenchmarkOpen(b *testing.B) {
	w := wandbFile(message(21), message(17, text(1, "x")))
	const n = 1_000_000
	for i := range n {
		w.record(slices.Concat(varint(1, uint64(i)), history("train/loss", fmt.Sprint(1/float64(i+1)), "val/loss", fmt.Sprint(2/float64(i+1)),
			"_runtime", fmt.Sprint(float64(i)/100), "_step", fmt.Sprint(i), "_timestamp", fmt.Sprint(1.7e9+float64(i)/100))))
	}
	path := filepath.Join(b.TempDir(), "run-x.wandb")
	write(b, path, w.Bytes())
	b.SetBytes(int64(w.Len()))
	w.Reset()
	b.ReportAllocs()
	for b.Loop() {
		r, err := Open(files.Here(path))
		if err != nil {
			b.Fatal(err)
		}
		var c count
		drain(b, r, &c)
		if c.rows != n {
			b.Fatalf("%d rows", c.rows)
		}
		r.Close()
	}
}

// count is a sink that counts.
type count struct {
	told
	rows int
}

func (c *count) Row(*logs.Row) { c.rows++ }
