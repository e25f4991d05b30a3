package figure

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"newtop/trainer/event"
)

var nan = Float(math.NaN())

// made is a made-up run that falls with its own speed, with radii and inner solves if it is of second order.
func made(name string, seed uint64, epochs int, second bool) Run {
	r := rand.New(rand.NewPCG(seed, 1))
	run := Run{ID: fmt.Sprintf("20261121-12000%d-abcdef", seed), Opening: &event.RunEvent{
		Optimizer: name, Seed: seed, Settings: map[string]any{"rate": 0.01 * float64(seed)},
		Data:  event.DataInfo{Name: "letters", TrainRows: 16000, TestRows: 4000, Inputs: 16, Outputs: 26, Classes: 26},
		Model: event.ModelInfo{Layers: []int{16, 70, 50, 26}},
	}}
	for e := range epochs + 1 {
		x := float64(e) / float64(epochs)
		loss := 3*math.Exp(-x*float64(4+2*seed)) + 0.02*(1+r.Float64())
		ev := epoch{Epoch: e, Loss: Float(loss), TestLoss: Float(1.2*loss + 0.05), Error: Float(loss / 3.2), TestError: Float(loss/3.2 + 0.03),
			RMSE: Float(loss / 5), TestRMSE: Float(loss / 4), GradientNorm: Float(loss / 2), StepNorm: 1, Radius: nan, Rho: nan, Rate: 0.01,
			Seconds: Float(0.5 + r.Float64()/10), Elapsed: Float(0.5 * float64(e) * float64(seed)), GradientEquivalents: Float(40 * e)}
		if second && e > 0 {
			ev.Radius, ev.Rho, ev.Rate = Float(math.Exp2(float64(e/3%9))), Float(1-5*math.Pow(r.Float64(), 4)), nan
			ev.Inner = []event.InnerSummary{{Iterations: 10 + e%30}, {Iterations: 2}}
		}
		run.Epochs = append(run.Epochs, ev)
	}
	return run
}

func drawn(t *testing.T, format string, runs []Run, o Options) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Draw(&out, format, runs, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPictures(t *testing.T) {
	switched := made("tr-newton", 1, 60, true)
	switched.Switches = []event.SwitchEvent{{Epoch: 20, From: "tr-newton", To: "adam"}, {Epoch: 22, From: "adam", To: "scg"}}
	broken := made("adam", 2, 60, false)
	for i := 30; i < 60; i++ {
		broken.Epochs[i].Loss, broken.Epochs[i].TestLoss = event.NotFinite, event.NotFinite
	}
	for name, c := range map[string]struct {
		runs []Run
		o    Options
	}{
		"one":    {[]Run{switched}, Options{}},
		"two":    {[]Run{switched, broken}, Options{X: "seconds"}},
		"panels": {[]Run{switched}, Options{What: []string{"radius", "rho", "inner", "rate"}, Smooth: 4, Title: "Trust region <&>"}},
		"eight": {[]Run{switched, broken, made("scg", 3, 40, false), made("scg", 4, 40, false), made("lm", 5, 10, true),
			made("sgd", 6, 80, false), made("dogleg", 7, 30, true), made("lbfgs", 8, 30, false)}, Options{X: "equivalents", LogX: true, What: []string{"error"}}},
		"narrow": {[]Run{switched, broken}, Options{Width: 8, Height: 8, What: []string{"test_error"}, Linear: true}},
	} {
		t.Run(name, func(t *testing.T) {
			svg := drawn(t, "svg", c.runs, c.o)
			wellFormed(t, svg)
			golden.RequireEqual(t, svg)
		})
	}
}

// TestSameBytes: the same runs make the same file.
func TestSameBytes(t *testing.T) {
	runs := []Run{made("adam", 1, 20, false), made("lm", 2, 20, true)}
	for _, format := range formats {
		small := Options{Width: 6, Height: 5, What: []string{"loss"}}
		if !bytes.Equal(drawn(t, format, runs, small), drawn(t, format, runs, small)) {
			t.Errorf("two pictures of format %s differ", format)
		}
	}
}

// wellFormed reads a picture with Go's own XML reader.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatalf("not XML: %v", err)
		}
	}
}

// texts are what an SVG says.
func texts(t *testing.T, svg []byte) []string {
	t.Helper()
	var doc struct {
		Texts []string `xml:"text"`
	}
	if err := xml.Unmarshal(svg, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Texts
}

func TestWords(t *testing.T) {
	runs := []Run{made("adam", 1, 30, false), made("adam", 2, 30, false)}
	got := texts(t, drawn(t, "svg", runs, Options{}))
	for _, want := range []string{"letters · 16-70-50-26", "adam, seed 1, rate 0.01", "adam, seed 2, rate 0.02", "test rows", "training rows", "mean loss", "error rate", "epoch", "10 %", "30"} {
		if !slices.Contains(got, want) {
			t.Errorf("the picture does not say %q but %q", want, got)
		}
	}
	best := math.Inf(1)
	for _, e := range runs[1].Epochs {
		best = min(best, float64(e.TestError))
	}
	want := fmt.Sprintf("(run %s): best test error %.2f %%", runs[1].ID, 100*best)
	if !strings.Contains(strings.Join(got, "\n"), want) {
		t.Errorf("the notes do not say %q but %q", want, got)
	}
}

// TestRows: a picture says of which rows its curves are, and what became of runs.
func TestRows(t *testing.T) {
	hot := made("sgd", 2, 3, false)
	hot.Name, hot.Diverged = "hot", &event.DivergedEvent{Epoch: 3}
	back := made("scg", 3, 20, false)
	back.Switches = []event.SwitchEvent{{Epoch: 4, From: "lm", To: "scg"}, {Epoch: 12, From: "scg", To: "adam"}}
	for i := range back.Epochs { // it went back behind the second switch, and again to the first method
		back.Epochs[i].Optimizer = "scg"
	}
	regression := made("tr-gn", 4, 5, false)
	for i := range regression.Epochs {
		regression.Epochs[i].Error, regression.Epochs[i].TestError = nan, nan
	}
	runs := []Run{hot, back, regression}
	for rows, want := range map[string]string{"test": " (test)", "train": " (training)", "both": ""} {
		said := texts(t, drawn(t, "svg", runs, Options{Rows: rows}))
		for _, want := range []string{"mean loss" + want, "error rate" + want, "No error rate of tr-gn.", "to scg", "× before a value that is not finite, or where a run diverged."} {
			if !slices.Contains(said, want) {
				t.Errorf("rows %s: the picture does not say %q but %q", rows, want, said)
			}
		}
		if slices.Contains(said, "to adam") {
			t.Errorf("rows %s: a switch is marked that the run went back behind", rows)
		}
		if all := strings.Join(said, "\n"); !strings.Contains(all, "sgd; best") || !strings.Contains(all, "diverged in epoch 3") {
			t.Errorf("rows %s: the notes do not say that hot was of sgd and diverged: %q", rows, said)
		}
	}
}

// TestFold: no note is wider than its room, if its words are not, and none is lost.
func TestFold(t *testing.T) {
	notes := []string{strings.Repeat("several words ", 30), "short", ""}
	lines := fold(notes, 100)
	for _, l := range lines {
		if w := wide(l, noteSize); w > 100 {
			t.Errorf("%q is %v wide", l, w)
		}
	}
	if got, want := strings.Fields(strings.Join(lines, " ")), strings.Fields(strings.Join(notes, " ")); !slices.Equal(got, want) {
		t.Errorf("%q became %q", want, got)
	}
}

// TestFormats reads PNG by Go's decoder, and looks at the frame of a PDF.
func TestFormats(t *testing.T) {
	runs := []Run{made("scg", 1, 20, false)}
	img, err := png.Decode(bytes.NewReader(drawn(t, "png", runs, Options{Width: 10, Height: 7})))
	if err != nil {
		t.Fatal(err)
	}
	inch := func(px int) float64 { return float64(px) / dpi * 2.54 }
	if w, h := inch(img.Bounds().Dx()), inch(img.Bounds().Dy()); math.Abs(w-10) > 0.1 || math.Abs(h-7) > 0.1 {
		t.Errorf("the PNG is %.2f cm × %.2f cm", w, h)
	}
	pdf := drawn(t, "pdf", []Run{runs[0], made("größe – 数", 2, 20, false)}, Options{})
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.Contains(pdf, []byte("%%EOF")) {
		t.Error("the PDF has no frame")
	}
	if !bytes.Contains(pdf, []byte("/FontFile2")) || len(pdf) > 100_000 {
		t.Errorf("the PDF of %d bytes has not what it needs of the font, or more", len(pdf))
	}
	if bytes.Contains(pdf, []byte(time.Now().UTC().Format("D:2006"))) {
		t.Error("the PDF has the date of today")
	}
	if got := known("a–ö·…‘数’σ±λ→😀"); got != "a–ö·…‘?’σ±λ→?" {
		t.Errorf("written as %q", got)
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	runs := []Run{made("scg", 1, 5, false)}
	path := filepath.Join(dir, "a.SVG")
	for range 2 { // it takes the place of an older one
		if err := Write(path, runs, Options{}); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, drawn(t, "svg", runs, Options{})) {
		t.Errorf("the file is not what was drawn: %v", err)
	}
	var option *OptionError
	var empty *EmptyError
	for _, c := range []struct {
		file string
		o    Options
		as   any
		want string
	}{
		{"b.gif", Options{}, &option, `figure file "` + filepath.Join(dir, "b.gif") + `": expected a name that ends in .svg, .png, .pdf`},
		{"b", Options{}, &option, "a name that ends in"},
		{"b.svg", Options{What: []string{"los"}}, &option, `quantity "los": expected loss, error,`},
		{"b.svg", Options{X: "time"}, &option, `x axis "time": expected epoch, seconds or equivalents`},
		{"b.svg", Options{Rows: "all"}, &option, `rows "all": expected test, train or both`},
		{"b.svg", Options{Width: 1}, &option, `figure width "1": expected centimeters from 6 to 60`},
		{"b.svg", Options{Height: math.NaN()}, &option, `figure height "NaN"`},
		{"b.svg", Options{Height: 5, What: []string{"loss", "error", "rmse", "rate"}}, &option, `figure height "5": expected at least 8.`},
		{"b.svg", Options{Smooth: -1}, &option, `smoothing "-1"`},
		{"b.svg", Options{What: make([]string, 9)}, &option, `number of quantities "9"`},
		{"b.svg", Options{What: []string{"radius"}}, &empty, "nothing to draw: no run has a finite trust-region radius"},
	} {
		err := Write(filepath.Join(dir, c.file), runs, c.o)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, c.as) {
			t.Errorf("%s, %+v: %v, not %q", c.file, c.o, err, c.want)
		}
	}
	if err := Write(filepath.Join(dir, "no", "b.svg"), runs, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not there: %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestMisuse(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); text != "figure: no runs" {
			t.Errorf("panics with %q", text)
		}
	}()
	Draw(io.Discard, "svg", nil, Options{})
}

// TestThin holds thinning against going through all points: no extreme and no gap is lost, and no order.
func TestThin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, logX := range []bool{false, true} {
		var ps []point
		for i := range 200_000 {
			p := point{float64(i), float64(i + 1), r.NormFloat64()}
			if i%40_001 == 7 {
				p.y = math.NaN()
			}
			ps = append(ps, p)
		}
		ps[77_777].y, ps[111_111].y = 1e6, -1e6
		out := downsample(ps, logX)
		if len(out) > 5*columns+5 {
			t.Errorf("%d points are left", len(out))
		}
		holes := 0
		for i, p := range out {
			if i > 0 && p.x <= out[i-1].x {
				t.Fatalf("point %d is at %g after %g", i, p.x, out[i-1].x)
			}
			if math.IsNaN(p.y) {
				holes++
			}
		}
		if !slices.Contains(out, ps[77_777]) || !slices.Contains(out, ps[111_111]) || out[0] != ps[0] || out[len(out)-1] != ps[len(ps)-1] {
			t.Error("an extreme or an end is lost")
		}
		if holes < 4 {
			t.Errorf("%d of 5 gaps are left", holes)
		}
	}
	few := []point{{0, 0, 1}, {1, 1, 2}}
	if got := downsample(few, false); !slices.Equal(got, few) {
		t.Errorf("few points become %v", got)
	}
}

// TestZeros: training rows that are learnt without an error leave the axis logarithmic, test rows do not.
func TestZeros(t *testing.T) {
	r := made("lm", 1, 20, false)
	r.Epochs[20].Error = 0
	what := Options{What: []string{"error"}}
	got := strings.Join(texts(t, drawn(t, "svg", []Run{r}, what)), "\n")
	if !strings.Contains(got, "10 %") || strings.Contains(got, "\n0 %") || !strings.Contains(got, "leaves its logarithmic axis at the bottom") {
		t.Errorf("with training rows without an error the picture says %q", got)
	}
	r.Epochs[20].TestError = 0
	if got := texts(t, drawn(t, "svg", []Run{r}, what)); !slices.Contains(got, "0 %") {
		t.Errorf("with test rows without an error the picture says %q", got)
	}
}

func TestPath(t *testing.T) {
	var got []int
	for _, e := range path([]epoch{{Epoch: 0}, {Epoch: 1}, {Epoch: 2}, {Epoch: 3}, {Epoch: 2}, {Epoch: 3}, {Epoch: 4}}) {
		got = append(got, e.Epoch)
	}
	if !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
		t.Errorf("the way to the newest weights is %v", got)
	}
}

// TestSmooth holds the average against its definition.
func TestSmooth(t *testing.T) {
	const half = 3.0
	r := rand.New(rand.NewPCG(4, 4))
	var ps []point
	for i := range 50 {
		ps = append(ps, point{float64(i), float64(i), r.Float64()})
	}
	ps[20].y = math.NaN()
	got := smooth(ps, half)
	for i := range ps {
		if math.IsNaN(ps[i].y) {
			if !math.IsNaN(got[i].y) {
				t.Errorf("point %d is %g and not a gap", i, got[i].y)
			}
			continue
		}
		sum, weight := 0.0, 0.0
		for k := range i + 1 {
			if w := math.Exp2(-float64(i-k) / half); !math.IsNaN(ps[k].y) {
				sum, weight = sum+w*ps[k].y, weight+w
			}
		}
		if want := sum / weight; math.Abs(got[i].y-want) > 1e-12 {
			t.Errorf("point %d is %g, not %g", i, got[i].y, want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		s    scale
		n    int
		want string
	}{
		{scale{min: 0, max: 60, whole: true}, 8, "0 10 20 30 40 50 60"},
		{scale{min: 0, max: 3, whole: true}, 8, "0 1 2 3"},
		{scale{min: 0, max: 2.2}, 5, "0 0.5 1 1.5 2"},
		{scale{min: 0, max: 250_000}, 4, "0 100,000 200,000"},
		{scale{min: 0, max: 3e6}, 4, "0 1M 2M 3M"},
		{scale{min: 0.0012, max: 3.3, log: true}, 5, "0.01 0.1 1"},
		{scale{min: 0.04, max: 1, log: true, unit: percent, each: 0.01}, 6, "5 % 10 % 20 % 30 % 50 % 100 %"},
		{scale{min: 1e-9, max: 1, log: true}, 4, "1e-9 1e-6 0.001 1"},
		{scale{min: 0, max: 7200, each: 60}, 5, "0 50 100"},
		{scale{min: 0.02, max: 0.07, unit: percent, each: 0.01}, 6, "2 % 3 % 4 % 5 % 6 % 7 %"},
		{scale{min: 1.2, max: 1.9, log: true}, 4, "1.2 1.4 1.6 1.8"},
	} {
		var got []string
		for _, k := range c.s.ticks(c.n) {
			if k.label != "" {
				got = append(got, k.label)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q, not %q", c.s, strings.Join(got, " "), c.want)
		}
	}
}

// FuzzDraw draws runs of anything, in which numbers are what the fuzzer's bytes are as floats.
func FuzzDraw(f *testing.F) {
	var usual []byte
	for _, v := range []float64{1, 0.5, 0.25, math.NaN(), math.Inf(1), 0, -1, 1e-300, 1e300, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		usual = binary.LittleEndian.AppendUint64(usual, math.Float64bits(v))
	}
	for i := range 8 {
		f.Add(uint8(i*37), "name\x1b[2J <&> 数\u202e", append(slices.Clone(usual), usual...))
	}
	f.Fuzz(func(t *testing.T, kind uint8, name string, raw []byte) {
		at := 0
		next := func() Float {
			if at+8 > len(raw) {
				at = 0
			}
			if len(raw) < 8 {
				return 1
			}
			at += 8
			return Float(math.Float64frombits(binary.LittleEndian.Uint64(raw[at-8:])))
		}
		var runs []Run
		for i := range 1 + int(kind)%3 {
			r := Run{ID: name, Name: name}
			for e := range min(len(raw)/8, 40) {
				r.Epochs = append(r.Epochs, epoch{Epoch: e * (1 + i), Loss: next(), TestLoss: next(), Error: next(), Elapsed: next(), Rho: next(), Radius: next(),
					GradientEquivalents: next()})
			}
			r.Switches = []event.SwitchEvent{{Epoch: 1 + i, To: name}, {Epoch: 2, To: name}}
			runs = append(runs, r)
		}
		o := Options{X: measures[int(kind/3)%3].name, LogX: kind&16 != 0, Linear: kind&32 != 0, Smooth: float64(kind >> 6), Title: name,
			What: [][]string{nil, {"loss"}, {"rho", "radius"}, {"error", "test_loss"}}[int(kind)%4]}
		var out bytes.Buffer
		err := Draw(&out, "svg", runs, o)
		var empty *EmptyError
		if err != nil && !errors.As(err, &empty) {
			t.Fatal(err)
		}
		if err == nil {
			wellFormed(t, out.Bytes())
			if bytes.Contains(out.Bytes(), []byte("NaN")) && !strings.Contains(name, "NaN") || bytes.Contains(out.Bytes(), []byte("Inf")) && !strings.Contains(name, "Inf") {
				t.Error("a place is not finite")
			}
		}
	})
}

// TestLossesAlone: a run that tells neither errors nor root mean squares is drawn by its losses, and counts what it counts.
func TestLossesAlone(t *testing.T) {
	run := Run{Opening: &event.RunEvent{Data: event.DataInfo{Name: "loop.py"}, Unit: "step"}}
	for n := range 4 {
		e := event.UnknownEpoch(n)
		e.Loss = Float(4 - n)
		run.Epochs = append(run.Epochs, e)
	}
	s, err := newReport([]Run{run}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(s.notes, " "); len(s.panels) != 1 || !strings.Contains(notes, "after 3 steps") {
		t.Errorf("%d panels: %s", len(s.panels), notes)
	}
}
