package csvlog

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	"newtop/trainer/logs"
)

// sink writes down what it is given.
type sink struct {
	strings.Builder
}

func (s *sink) Row(r *logs.Row) {
	for _, c := range []struct {
		name string
		v    float64
	}{{"step", r.Step}, {"epoch", r.Epoch}, {"wall", r.Wall}, {"elapsed", r.Elapsed}} {
		if !math.IsNaN(c.v) {
			fmt.Fprintf(s, "@%s=%v ", c.name, c.v)
		}
	}
	for _, v := range r.Values {
		fmt.Fprintf(s, "%s=%v ", v.Key, v.V)
	}
	s.WriteByte('\n')
}
func (s *sink) Info(i logs.Info)                { fmt.Fprintf(s, "info %+v\n", i) }
func (s *sink) Line(text string)                { fmt.Fprintf(s, "line %s\n", text) }
func (s *sink) End(st logs.State, words string) { fmt.Fprintf(s, "end %v %s\n", st, words) }

// read parses a text and returns what came of it, errors among it.
func read(text string) string {
	p, s := New(), &sink{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if err := p.Line([]byte(line), s); err != nil {
			fmt.Fprintf(s, "error %v\n", err)
		}
	}
	p.Flush(s)
	return strings.ReplaceAll(s.String(), " \n", "\n")
}

func TestDialects(t *testing.T) {
	zone := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = zone })
	for _, c := range []struct{ name, text, want string }{
		{"Keras", "epoch,accuracy,loss,val_loss\n0,0.9,0.5,NA\n1,0.91,nan,0.4\n", "@epoch=0 accuracy=0.9 loss=0.5\n@epoch=1 accuracy=0.91 loss=NaN val_loss=0.4\n"},
		{"Keras lists", "epoch,loss,per_class\n0,0.5,\"\"\"[0.1, 0.2]\"\"\"\n1,0.4,\"[0.1, 0.2]\"\n", "@epoch=0 loss=0.5\n@epoch=1 loss=0.4\n"},
		{"Lightning", "epoch,step,train_loss_epoch,grad_norm_preclip_step\n0,0,,3.5\n0,0,2.25,\n", "@step=0 @epoch=0 grad_norm_preclip_step=3.5\n@step=0 @epoch=0 train_loss_epoch=2.25\n"},
		{"Ultralytics", "                  epoch,      train/box_loss,   metrics/mAP50(B)\n                      1,              1.7773,                nan\r\n",
			"@epoch=1 train/box_loss=1.7773 metrics/mAP50(B)=NaN\n"},
		{"DVCLive", "timestamp\tstep\tloss\n1700000000500\t3\t0.25\n", "@step=3 @wall=1.7000000005e+09 loss=0.25\n"},
		{"semicolons", "epoch;loss;acc\n1;0,5;93%\n", "@epoch=1 loss=0.5 acc=93\n"},
		{"pandas", ",epoch,loss\n0,1,0.5\n", "@epoch=1 loss=0.5\n"},
		{"quotes", "\"step\",\"a,\"\"b\"\"\"\n\"1\",\"1,234.5\"\n", "@step=1 a,\"b\"=1234.5\n"},
		{"text and dates", "date,model,loss\n1970-01-01 00:00:10,resnet,0.5\n1970-01-01T01:00:10+01:00,vgg,-inf\n", "@wall=10 loss=0.5\n@wall=10 loss=-Inf\n"},
		{"separator at the end", "step,loss,\n1,0.5,\n2,0.4\n", "@step=1 loss=0.5\n@step=2 loss=0.4\n"},
		{"begun anew", "epoch,loss\n0,0.5\nepoch,loss\n0,0.6\nepoch,val_loss,loss\n1,0.7,0.8\n", "@epoch=0 loss=0.5\n@epoch=0 loss=0.6\n@epoch=1 val_loss=0.7 loss=0.8\n"},
		{"a row of text is no header", "name,loss\nresnet,0.5\nvgg,failed\nresnet,0.4\n", "loss=0.5\nloss=0.4\n"},
		{"torn and strange rows", "\xef\xbb\xbfstep,loss\n# a comment\n\n1,0.5\n2\n3,0.4,7\n4,0.3\n",
			"@step=1 loss=0.5\nerror expected 2 cells, as the header has, found 1\nerror expected 2 cells, as the header has, found 3\n@step=4 loss=0.3\n"},
		{"no header", "1,2\nstep,loss\n3,0.5\n", "error expected a header of names, as step,loss,val_loss\n@step=3 loss=0.5\n"},
		{"words behind the header", "step,loss\nTraining begins\n3,0.5\n", "error expected 2 cells, as the header has, found 1\n@step=3 loss=0.5\n"},
		{"words before", "Training begins\nstep,loss\n3,0.5\n", "@step=3 loss=0.5\n"},
	} {
		if got := read(c.text); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.name, got, c.want)
		}
	}
}

// Python's csv module is what Keras, Lightning and DVCLive write with; the cells are made as Keras' CSVLogger makes them.
func TestPythonsTables(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3: its csv module writes the tables")
	}
	out, err := exec.Command(python, "-c", `
import csv, sys
w = csv.DictWriter(sys.stdout, fieldnames=["epoch", "loss", "per_class", "val_loss, mean"])
w.writeheader()
w.writerow({"epoch": 0, "loss": float("nan"), "per_class": '"[%s]"' % ", ".join(["0.1", "0.2"]), "val_loss, mean": "NA"})
w.writerow({"epoch": 1, "loss": 0.1 + 0.2, "per_class": "", "val_loss, mean": 1e-07})`).Output()
	if err != nil {
		t.Fatal(err)
	}
	if !Sniff(out) {
		t.Error("not known for a table")
	}
	if got, want := read(string(out)), "@epoch=0 loss=NaN\n@epoch=1 loss=0.30000000000000004 val_loss, mean=1e-07\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		"epoch,loss\n0,0.5\n":                           true,
		"epoch,loss\n":                                  true,
		"epoch,step,a,b,c\n0,0,,,3.5\n":                 true,
		"   epoch,   train/box_loss\n   1,   1.7\n   2": true,
		"step\tloss\n1\t0.5\n":                          true,
		"date;loss;acc\n2026-01-01 00:00:00;1;2\n":      true,
		"epoch,loss":                                    false, // may be torn
		"Hello, world\n":                                false,
		"Hello, world\nHow, are, you\n":                 false,
		"name,city\nAnn,Rome\nBob,Oslo\n":               false,
		"{\"step\":1,\"loss\":0.5}\n":                   false,
		"1,2\n3,4\n":                                    false,
		"":                                              false,
		"loss 0.5, acc 0.3\nloss 0.4, acc 0.4\n":        false,
	} {
		if got := Sniff([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// counter counts, and keeps nothing.
type counter struct{ rows int }

func (c *counter) Row(*logs.Row)          { c.rows++ }
func (c *counter) Info(logs.Info)         {}
func (c *counter) Line(string)            {}
func (c *counter) End(logs.State, string) {}

func million() []byte {
	var b bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&b, "%d,%.6f,%.17g\n", i, 1/float64(i+1), 2/float64(i+3))
	}
	return b.Bytes()
}

func TestRowsCostNoAllocation(t *testing.T) {
	p, c := New(), &counter{}
	if err := p.Line([]byte("step,loss,val_loss"), c); err != nil {
		t.Fatal(err)
	}
	line := []byte("12,0.123456,0.30000000000000004")
	if n := testing.AllocsPerRun(100, func() { p.Line(line, c) }); n > 0 {
		t.Errorf("%v allocations a row", n)
	}
}

func BenchmarkMillionRows(b *testing.B) {
	text := million()
	b.ReportAllocs()
	for b.Loop() {
		p, c := New(), &counter{}
		p.Line([]byte("step,loss,val_loss"), c)
		for rest := text; len(rest) > 0; {
			i := bytes.IndexByte(rest, '\n')
			p.Line(rest[:i], c)
			rest = rest[i+1:]
		}
		if c.rows != 1_000_000 {
			b.Fatal(c.rows)
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"epoch,loss\n0,0.5\n", "a;b\n1;0,5\n;\n", "step\tx\n1\t\"2\n", "\"a\"\"\",b\n\"1\",nan\n", ",a,\n1,2,3,\n", "#\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Sniff([]byte(text))
		p, c := New(), &counter{}
		for _, line := range strings.Split(text, "\n") {
			before := c.rows
			err := p.Line([]byte(line), c)
			if c.rows > before && (err != nil || len(p.row.Values) > len(p.columns)) {
				t.Errorf("%q: %v, %v of %d columns", line, err, p.row.Values, len(p.columns))
			}
		}
	})
}
