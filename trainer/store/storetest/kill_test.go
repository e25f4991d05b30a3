package storetest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"newtop/internal/nightly"
	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
	"newtop/trainer/store/recorder"
	"newtop/trainer/store/sqlfile"
)

var kills = flag.Int("kills", nightly.Of(32, 8)/slowness, "how many processes TestKill kills in all")

// killed are the runs of TestKill.
var killed = []trainer.Config{
	{Data: "spirals", Hidden: []int{10, 10}, Optimizer: "tr-newton", Epochs: 60 / slowness, SpectrumEvery: 20, Spectrum: 2, Threads: 2},
	{Data: "spirals", Hidden: []int{10, 10}, Optimizer: "adam", Epochs: 300 / slowness, Batch: 16, Threads: 1},
	{Data: "spirals", Hidden: []int{8}, Optimizer: "lbfgs", Epochs: 200 / slowness, Seed: 3},
	{Data: "spirals", Hidden: []int{8}, Optimizer: "tr-gn-jacobi", Epochs: 48 / slowness, Blocks: 3, Committee: 2},
}

// A run that is killed at any moment, gone on with in another process, and killed again and again has at every such
// moment a store that opens, all that was to be read there before, and no event that the run would not have had without
// the kills; in the end it has the weights and events of a run that was never stopped, bit by bit.
func TestKill(t *testing.T) {
	for i, config := range killed {
		t.Run(config.Optimizer, func(t *testing.T) {
			t.Parallel()
			want, weights := uninterrupted(t, config)
			path := filepath.Join(t.TempDir(), "runs.db")
			random := rand.New(rand.NewPCG(uint64(i), 6))
			for range (*kills + len(killed) - 1) / len(killed) {
				p := child{Path: path, Config: config}.start(t)
				seen := p.someTime(random, config.Epochs/6)
				if err := p.command.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				rest, _ := p.wait()
				if p.errors.Len() > 0 {
					t.Fatal(p.errors.String())
				}
				inspect(t, path, append(seen, rest...), want)
			}
			p := child{Path: path, Config: config}.start(t)
			lines, err := p.wait()
			if err != nil || lines[len(lines)-1] != "end" {
				t.Fatal(err, p.errors.String())
			}
			s := open(t, path)
			id := find(t, s, "last").ID
			equalTexts(t, timeless(t, events(t, s, id)), want)
			_, text := kept(t, s, id)
			if got := content(t, text); !bytes.Equal(got, weights) {
				t.Error("the last checkpoint differs from that of a run that was never stopped")
			}
		})
	}
}

// uninterrupted returns what a run's events and last checkpoint must be.
func uninterrupted(t *testing.T, c trainer.Config) (lines []string, checkpoint []byte) {
	t.Helper()
	s := temporary(t)
	r := recorder.New(s, recorder.About{Config: c})
	session, err := trainer.New(c, r)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := find(t, s, "last").ID
	_, text := kept(t, s, id)
	all := events(t, s, id)
	t.Logf("never stopped: %d events in %v", len(all), time.Since(begin).Round(time.Millisecond))
	return timeless(t, all), content(t, text)
}

// someTime waits for some epochs, or none, and then a little; both by chance.
func (p *process) someTime(random *rand.Rand, epochs int) (seen []string) {
	wait := time.Duration(random.IntN(60)) * time.Millisecond
	if n := random.IntN(5); n > 0 {
		for range random.IntN(epochs) {
			line, ok := <-p.lines
			if !ok {
				return seen
			}
			seen = append(seen, line)
		}
		wait /= 4
	}
	time.Sleep(wait)
	return seen
}

// inspect looks at the store that a killed process has left.
func inspect(t *testing.T, path string, seen, want []string) {
	t.Helper()
	s, err := store.Open(path, sqlfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	runs, err := s.Runs(t.Context(), store.Filter{})
	if err != nil || len(runs) > 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	if len(runs) == 0 {
		if len(seen) > 0 {
			t.Fatalf("no run, where there were %d epochs", len(seen))
		}
		return
	}
	run := runs[0]
	if run.State != store.Interrupted && run.State != store.State(event.ReasonEpochs) {
		t.Fatalf("state %s", run.State)
	}
	all := events(t, s, run.ID)
	var epochs []string
	for _, e := range all {
		if e, ok := e.(event.EpochEvent); ok {
			epochs = append(epochs, text(t, e))
		}
	}
	for i, line := range seen {
		if line != "end" && (i >= len(epochs) || epochs[i] != line) {
			t.Fatalf("epoch %d was there and is there no more: %s", i, line)
		}
	}
	lines := timeless(t, all)
	equalTexts(t, lines, want[:min(len(want), len(lines))])
	if _, _, err := s.Checkpoint(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d events, %d epochs of which %d were seen, checkpoint of epoch %d", run.State, len(all), len(epochs), len(seen), run.Checkpoint)
	if run.Epochs != len(epochs) || run.Last != nil && text(t, *run.Last) != epochs[len(epochs)-1] {
		t.Fatalf("%d epochs, and %d counted", len(epochs), run.Epochs)
	}
}

// Processes record at once into one database, and lose nothing by it. Those that are slow may be told of a lock.
func TestManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	want, _ := uninterrupted(t, killed[2])
	var processes []*process
	for range 3 {
		processes = append(processes, child{Path: path, Config: killed[2], New: true}.start(t))
	}
	for _, p := range processes {
		if lines, err := p.wait(); err != nil || lines[len(lines)-1] != "end" {
			t.Fatal(lines, err, p.errors.String())
		}
	}
	s := open(t, path)
	runs, err := s.Runs(t.Context(), store.Filter{})
	if err != nil || len(runs) != 3 {
		t.Fatal(len(runs), err)
	}
	for _, r := range runs {
		equalTexts(t, timeless(t, events(t, s, r.ID)), want)
	}
}

// A disk that is full for a while is a warning; the run goes on, and all of it is there in the end.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process can't bound the size of its files here")
	}
	want, weights := uninterrupted(t, killed[2])
	path := filepath.Join(t.TempDir(), "runs.db")
	p := child{Path: path, Config: killed[2], Limit: 160 << 10}.start(t)
	lines, err := p.wait()
	if err != nil {
		t.Fatal(err, p.errors.String())
	}
	var told []string
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, "warning "); ok {
			told = append(told, text)
		}
	}
	if len(told) < 2 || !strings.HasPrefix(told[0], "the run is not being recorded: "+path+": the file may not grow beyond ") || told[len(told)-1] != "" {
		t.Errorf("told %q", told)
	}
	s := open(t, path)
	id := find(t, s, "last").ID
	equalTexts(t, timeless(t, events(t, s, id)), want)
	if _, text := kept(t, s, id); !bytes.Equal(content(t, text), weights) {
		t.Error("another checkpoint")
	}
}

func equalTexts(t *testing.T, got, want []string) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("event %d:\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d events, want %d", len(got), len(want))
	}
}

// timeless writes a run's events but for what differs from run to run, or tells of the stops.
func timeless(t *testing.T, events []event.Event) (lines []string) {
	t.Helper()
	for _, e := range events {
		switch v := e.(type) {
		case event.RunEvent:
			v.ID, v.Time = "", time.Time{}
			e = v
		case event.EpochEvent:
			v.Seconds, v.Elapsed = 0, 0
			e = v
		case event.DoneEvent:
			v.Elapsed = 0
			e = v
		case event.ResumeEvent:
			continue
		}
		lines = append(lines, text(t, e))
	}
	return lines
}

// content returns the tensors of a checkpoint, which is a safetensors file, and its numbers by name, without what the
// clocks say.
func content(t *testing.T, file []byte) []byte {
	t.Helper()
	if len(file) < 8 {
		t.Fatal("no checkpoint")
	}
	size := binary.LittleEndian.Uint64(file)
	var head map[string]json.RawMessage
	if err := json.Unmarshal(file[8:8+size], &head); err != nil {
		t.Fatal(err)
	}
	data := file[8+size:]
	var meta map[string]string
	if err := json.Unmarshal(head["__metadata__"], &meta); err != nil {
		t.Fatal(err)
	}
	var names []string
	if err := json.Unmarshal([]byte(meta["numbers"]), &names); err != nil {
		t.Fatal(err)
	}
	delete(head, "__metadata__")
	var out bytes.Buffer
	fmt.Fprintln(&out, meta["epoch"], meta["fingerprint"], meta["same"], meta["texts"])
	for _, name := range sortedKeys(head) {
		var tensor struct {
			Offsets [2]int `json:"data_offsets"`
		}
		if err := json.Unmarshal(head[name], &tensor); err != nil {
			t.Fatal(err)
		}
		bits := data[tensor.Offsets[0]:tensor.Offsets[1]]
		if name != "numbers" {
			fmt.Fprintf(&out, "%s %x\n", name, bits)
			continue
		}
		for i, n := range names {
			if clock := strings.Contains(n, "seconds") || slices.Contains([]string{"training", "active", "looking"}, n); !clock {
				fmt.Fprintln(&out, n, math.Float64frombits(binary.LittleEndian.Uint64(bits[8*i:])))
			}
		}
	}
	return out.Bytes()
}

func sortedKeys(m map[string]json.RawMessage) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// A run whose newest checkpoint is damaged goes on from the one before, to the same end.
func TestDamagedCheckpoint(t *testing.T) {
	config := killed[2]
	config.Epochs /= 4
	want, weights := uninterrupted(t, config)
	s := temporary(t)
	half := config
	half.Epochs /= 2
	r := recorder.New(s, recorder.About{Config: half})
	r.Checkpoint.Pause = time.Hour // one checkpoint at the start, one at the end
	session, err := trainer.New(half, r)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := find(t, s, "last").ID
	goOn := func() recorder.ResumePoint {
		t.Helper()
		if r, err = recorder.Continue(t.Context(), s, id); err != nil {
			t.Fatal(err)
		}
		r.Mu.Lock()
		r.Checkpoint.Pause = time.Hour
		r.Mu.Unlock()
		rest, err := recorder.Resumable(t.Context(), r)
		if err != nil || rest.From == nil || rest.From.Epoch != half.Epochs {
			t.Fatalf("%+v: %v", rest, err)
		}
		if session, err = trainer.Resume(config, rest.From, rest.History, r); err != nil {
			t.Fatal(err)
		}
		if err := session.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		equalTexts(t, timeless(t, events(t, s, id)), want)
		_, text := kept(t, s, id)
		if got := content(t, text); !bytes.Equal(got, weights) {
			t.Error("the last checkpoint differs from that of a run that was never stopped")
		}
		return rest
	}
	if rest := goOn(); rest.Skipped != nil {
		t.Error(rest.Skipped)
	}
	execute(t, s.Path(), "UPDATE parts SET data = zeroblob(length(data)) WHERE seq = (SELECT max(seq) FROM checkpoints)")
	if rest := goOn(); rest.Skipped == nil {
		t.Error("a damaged checkpoint was passed over in silence")
	}

	execute(t, s.Path(), "UPDATE parts SET data = zeroblob(length(data))")
	if r, err = recorder.Continue(t.Context(), s, id); err != nil {
		t.Fatal(err)
	}
	var row *sqlfile.RowError
	if _, err := recorder.Resumable(t.Context(), r); !errors.As(err, &row) {
		t.Errorf("two damaged checkpoints: %v", err)
	}
	flush(t, r)
}
