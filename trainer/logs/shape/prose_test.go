package shape

import (
	"reflect"
	"strings"
	"testing"

	"newtop/trainer/logs"
)

// What is no metric, as programs print it around their metrics.
const prose = `Traceback (most recent call last):
  File "/home/a/train_loss.py", line 12, in <module>
    loss = model(x, lr=y)
  File "/home/a/train.py", line 340, in step
RuntimeError: CUDA error: out of memory. Tried to allocate 2.00 GiB (GPU 0; 15.78 GiB total capacity; 14.56 GiB already allocated)
Collecting torch==2.1.0
  Downloading torch-2.1.0-cp311-cp311-manylinux1_x86_64.whl (670.2 MB)
     ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━ 670.2/670.2 MB 1.5 MB/s eta 0:00:00
Successfully installed numpy-1.26.4 torch-2.1.0
2025-10-30 14:32:58,897 - root - INFO - Listening on 10.0.0.1:8080
2025-10-30 14:32:58 INFO Using device: cuda:0
Python 3.11.7, torch 2.1.0
number of parameters: 1,234,567
Model size 12.5 MB
Loaded 60000 images in 3 classes
Loading data took 3.4 s
Training on 4 GPUs with batch size 32
Binning 0.000 GB of training data: 0.001 s
Time spent computing histograms: 0.000s
Fit 3 trees in 0.004 s, (14 total leaves)
Total training time: 0.00 seconds.
HTTP Error 404: Not Found
Saved model to /tmp/run-1/epoch=3-step=40-val_loss=0.25.ckpt
Resuming from checkpoint at step 500
https://example.com/a?loss=3
WARNING:tensorflow:From /usr/lib/x.py:123: foo is deprecated
time: 48.67ms
Will train until valid-rmse hasn't improved in 10 rounds.
Early stopping patience 5
commit 3997656 of 2025-10-30
100%|██████████| 9912422/9912422 [00:00<00:00, 16543210.11it/s]
[W socket.cpp:601] [c10d] The client socket has failed to connect to [localhost]:29500 (errno: 99 - Cannot assign requested address).
{not a dict} 3
Script started on 2026-11-28 18:37:52+00:00 [COMMAND="train.sh --lr 1" TERM="xterm" TTY="/dev/pts/0" COLUMNS="80" LINES="24"]
Script done on 2026-11-28 18:37:52+00:00 [COMMAND_EXIT_CODE="0"]
                   from  n    params  module                                       arguments
  0                  -1  1       464  ultralytics.nn.modules.conv.Conv             [3, 16, 3, 2]
 12             [-1, 6]  1         0  ultralytics.nn.modules.conv.Concat           [1]
 15                  -1  1     37248  models.common.C3                             [192, 64, 1, False]
YOLO11n summary: 181 layers, 2,590,035 parameters, 2,590,019 gradients, 6.5 GFLOPs
`

func TestProseIsNoMetric(t *testing.T) {
	for _, line := range strings.Split(prose, "\n") {
		if r := read(t, line); len(r.rows) > 0 {
			t.Errorf("%q became %q", line, r.rows)
		}
		if r := read(t, "step 3 loss 0.5\n"+line+"\nstep 4 loss 0.4"); len(r.rows) != 2 {
			t.Errorf("%q in the middle of a run became %q", line, r.rows)
		}
	}
	if r := read(t, prose+"val loss 0.5"); strings.Join(r.rows, "\n") != "val loss=0.5" {
		t.Errorf("the loss after it: %q", r.rows)
	}
}

func TestConfig(t *testing.T) {
	r := read(t, "Namespace(lr=0.1, batch_size=64, name='a, b', cuda=False, seed=None, betas=(0.9, 0.99), data='x')\n{'lr': 0.1, 'epochs': 10, 'opt': {'name': 'adam'}}")
	want := []logs.Info{
		{Config: map[string]any{"lr": 0.1, "batch_size": 64.0, "name": "a, b", "cuda": false, "data": "x"}},
		{Config: map[string]any{"lr": 0.1, "epochs": 10.0, "opt/name": "adam"}},
	}
	if !reflect.DeepEqual(r.infos, want) || len(r.rows) > 0 {
		t.Errorf("got %v and rows %q", r.infos, r.rows)
	}
}

func TestTotal(t *testing.T) {
	for _, c := range []struct {
		in   string
		want float64
	}{
		{"Epoch 1/5\nloss: 0.3", 5},
		{"Epoch [1/5], Step [100/600], Loss: 0.3", 3000},
		{"iteration 10/ 500 | loss: 3.5", 500},
		{"[1/3] 1 tree, train loss: 0.6", 3},
		{"\r 10%|█  | 10/100 [00:01<00:09, 10.0it/s]\r            \r{'loss': '2.1', 'epoch': '0.5'}", 100},
		{"loss: 0.3", 0},
	} {
		got := 0.0
		for _, i := range read(t, c.in).infos {
			got = i.Steps
		}
		if got != c.want {
			t.Errorf("%q: %v in all, want %v", c.in, got, c.want)
		}
	}
}

func TestTerminal(t *testing.T) {
	for _, c := range []struct{ in, want, states string }{
		{"plain", "plain", ""},
		{"long line\rab", "abng line", "long line"},
		{"long line\r\x1b[Kab", "ab", "long line"},
		{"abc\b\b\bxy", "xyc", "abc"},
		{"\x1b[1;31mred\x1b[0m \x1b]0;title\x07x", "red x", ""},
		{"\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link", ""},
		{"a\x1b[2Kb", " b", "a"},
		{"a\x1b[3Cb\x1b[2Dc", "a  cb", ""},
		{"ab\r  \r", "", "ab"},
		{"a\x00\x07b", "ab", ""},
		{"a\x1b[", "a", ""},
	} {
		var term terminal
		var states []string
		got := string(term.play([]byte(c.in), func(s []byte) { states = append(states, string(s)) }))
		if got != c.want || strings.Join(states, "|") != c.states {
			t.Errorf("%q shows %q after %q, want %q after %q", c.in, got, states, c.want, c.states)
		}
	}
}

func TestConsole(t *testing.T) {
	r := read(t, "a\rbc\n\x1b[1mloss 0.5\x1b[0m\n\xff\n")
	if got := strings.Join(r.lines, "|"); got != "bc|loss 0.5|\xff|" {
		t.Errorf("the console shows %q", got)
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		head string
		want bool
	}{
		{"epoch 1 loss 0.5\n", true},
		{"\x1b[1m1/5\x1b[0m\b\b\r█ 3 \xe2\x96", true},
		{"no numbers\n", false},
		{"", false},
		{"\x00\x01\x02 3", false},
		{":W&B\xe1\xbe\x00 1", false},
		{"\x89PNG\r\n\x1a\n1", false},
		{"\xff\xfe1 2 3", false},
	} {
		if got := Sniff([]byte(c.head)); got != c.want {
			t.Errorf("Sniff(%q) = %v", c.head, got)
		}
	}
}

// nothing takes what a parser gives, and drops it.
type nothing struct{ rows, values int }

func (n *nothing) Row(r *logs.Row)        { n.rows++; n.values += len(r.Values) }
func (n *nothing) Info(logs.Info)         {}
func (n *nothing) Line([]byte)            {}
func (n *nothing) End(logs.State, string) {}

func FuzzLine(f *testing.F) {
	for _, c := range cases {
		f.Add([]byte(c.in), uint8(7))
	}
	f.Add([]byte(prose), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, cut uint8) {
		p, n := New(), &nothing{}
		for len(data) > 0 { // in pieces, as pipes give them
			k := min(len(data), int(cut)+1)
			for _, line := range strings.Split(string(data[:k]), "\n") {
				if err := p.Line([]byte(line), n); err != nil {
					t.Fatal(err)
				}
			}
			data = data[k:]
		}
		p.Flush(n)
		if len(p.names) > maxNames || len(p.join.text) > 2*maxJoinedText+1<<17 || cap(p.terminal.cells) > 2*widest {
			t.Fatal("memory grows without bound")
		}
	})
}

func BenchmarkLine(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"bare", "step 12 loss 0.345 val_loss 0.4"},
		{"logger", "[rank0]:[titan] 2025-10-30 14:32:58,897 - root - INFO - step:  1  loss:  8.1661  grad_norm:  3.6855"},
		{"dict", "{'loss': '2.163', 'learning_rate': '9.966e-05', 'epoch': '0.3556'}"},
	} {
		b.Run(c.name, func(b *testing.B) {
			line := []byte(c.line)
			p, n := New(), &nothing{}
			b.SetBytes(int64(len(line)) + 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := p.Line(line, n); err != nil {
					b.Fatal(err)
				}
			}
			if n.values != 2*n.rows || n.rows == 0 {
				b.Fatalf("%d values in %d rows", n.values, n.rows)
			}
		})
	}
}
