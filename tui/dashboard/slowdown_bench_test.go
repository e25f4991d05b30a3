package dashboard

import (
	"context"
	"io"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"newtop/trainer"
	"newtop/tui/screen"
)

// BenchmarkTrainer trains the same run without and with a screen of 120 × 40, in turn, and reports how much longer the
// trainer is at work with it: the median of the ratios.
func BenchmarkTrainer(b *testing.B) {
	for _, c := range []struct {
		name   string
		config trainer.Config
	}{
		{"tr-newton", trainer.Config{Optimizer: "tr-newton", Epochs: 20}},
		{"adam", trainer.Config{Optimizer: "adam", Epochs: 40}},
	} {
		b.Run(c.name, func(b *testing.B) {
			var ratios []float64
			for range b.N {
				alone := trained(b, c.config, false)
				ratios = append(ratios, trained(b, c.config, true)/alone)
			}
			slices.Sort(ratios)
			b.ReportMetric(100*(ratios[len(ratios)/2]-1), "%slower")
		})
	}
}

// trained returns the seconds that the trainer was at work.
func trained(b *testing.B, c trainer.Config, shown bool) float64 {
	s, err := trainer.New(c)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	ended := make(chan error, 1)
	box := s.Subscribe()
	defer box.Close()
	if shown {
		in, keys := io.Pipe()
		defer keys.Close()
		feed := s.Feed()
		defer feed.Close()
		o := screen.Options{Input: in, Output: io.Discard, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8", "COLORTERM=truecolor"}}
		a := New(feed, o)
		a.Throttle()
		defer a.Close()
		go func() {
			err := a.Base.Run(ctx, a, o, tea.WithWindowSize(120, 40), tea.WithColorProfile(colorprofile.TrueColor))
			ended <- err
		}()
	}
	if err := s.Run(ctx); err != nil {
		b.Fatal(err)
	}
	var elapsed float64
	for done := false; !done; {
		d, err := box.Wait(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if done = d.Done != nil; done {
			elapsed = float64(d.Done.Elapsed)
		}
	}
	cancel()
	if shown {
		<-ended
	}
	return elapsed
}
