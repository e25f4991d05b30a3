package stream

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"newtop/trainer/event"
)

// validLogs are logs of 1,000 steps, whose loss is 1/step.
var validLogs = func() (logs [3]string) {
	logs[2] = "step,loss\n"
	for i := 1; i <= 1000; i++ {
		v := 1 / float64(i)
		logs[0] += fmt.Sprintf("step %d loss %.9g\n", i, v)
		logs[1] += fmt.Sprintf("{\"step\": %d, \"loss\": %.9g}\n", i, v)
		logs[2] += fmt.Sprintf("%d,%.9g\n", i, v)
	}
	return logs
}()

// FuzzValidLogStays: whatever bytes follow 1,000 lines of a log, its points stay, but for those that a smaller x of the
// same metric, a rewind or another run cuts, which events say; and the newest, whose x may be taken, which is counted.
func FuzzValidLogStays(f *testing.F) {
	for i, s := range []string{
		"", "\x00\x01\xff\xfe", "{", "step 5 loss 9\n", "step 1000 loss 9\n", "loss 7\nloss 8\n", "[rank0] step 2000 loss 3\n",
		"{\"step\": 3, \"loss\": null}\n{\"step\": 4}\n", "epoch,acc\n1,2\n", "3,\n4,5,6\n", "\r\r50%|##| 5/10 loss=3\r", "nan inf -nan(ind)\n",
		`{"type":"cut","metric":"loss","from":500}` + "\n", `{"type":"rewind","epoch":1000,"to":10}` + "\n", "(3/8) step 2 loss 0,5\n",
		"epoch 3 step 7 loss 1e999\n", "step 1e3 loss 4\nstep -1 loss 3\n", "step,loss\n1,2\n", "[[[[{'a': 1\n", "| loss | 3 |\n| step | 4 |\n",
	} {
		f.Add([]byte(s), uint8(i))
	}
	f.Fuzz(func(t *testing.T, tail []byte, kind uint8) {
		log := validLogs[int(kind)%len(validLogs)]
		s := Lines(strings.NewReader(log+string(tail)), "x")
		defer s.Close()
		var all event.Collection
		stays, told := math.MaxInt, 0 // the x up to which points stay; that of the newest loss
		for {
			e, err := s.Next(t.Context())
			if errors.Is(err, ErrNone) {
				if err := s.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q ended the log: %v", tail, err)
			}
			switch e := e.(type) {
			case event.RunEvent:
				if told > 0 && e.ID != all.Run.ID {
					stays = 0
				}
			case event.RewindEvent:
				stays = min(stays, e.To)
			case event.CutEvent:
				if e.Metric == "loss" {
					stays = min(stays, e.From-1)
				}
			case event.EpochEvent:
				x := e.Epoch
				if e.Loss.Absent() {
					x = math.MaxInt
				} else {
					told = x
				}
				for i := range e.Metrics {
					if e.Metrics[i].Key == "loss" {
						x = min(x, e.Metrics[i].At(e.Epoch))
					}
				}
				if x <= 1000 && all.Run.ID != "" && lossAt(&all, x) { // told again
					stays = min(stays, x-1)
				}
			}
			all.See(e)
		}
		for x := 1; x <= min(stays, 1000); x++ {
			if !lossAt(&all, x) && !(x == 1000 && strings.Contains(s.(warner).Warning(), "taken x")) { // not told before
				t.Fatalf("%q: the loss at %d is gone, and no event says it", tail, x)
			}
		}
	})
}

// lossAt reports whether the loss has a point at x as the valid logs have it.
func lossAt(c *event.Collection, x int) bool {
	for _, s := range c.Series {
		if s.Key == "loss" && x <= s.Len() {
			p := s.At(x - 1)
			return p.X == x && math.Abs(float64(p.V)*float64(x)-1) < 1e-6
		}
	}
	return false
}
