package trainer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"newtop/trainer/config"
	"newtop/trainer/event"
	"newtop/trainer/feed"
)

// TestAnyCommandsInAnyOrder: a run takes or refuses whatever it is asked for, at once, counts its epochs one by one
// but for what a rewind or a pick says, and ends when it is told to.
func TestAnyCommandsInAnyOrder(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 1))
			d := steer(t, config.Config{Data: "spirals", Hidden: []int{5}, Optimizer: "tr-gn"})
			for range 300 {
				c := anyCommand(dice)
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				err := d.s.Do(ctx, c)
				cancel()
				var refusal *event.CommandError
				if errors.Is(err, feed.ErrEnded) {
					break
				}
				if err != nil && !errors.As(err, &refusal) {
					t.Fatalf("%+v: %v", c, err)
				}
				if dice.IntN(4) == 0 {
					time.Sleep(time.Duration(dice.IntN(2000)) * time.Microsecond)
				}
			}
			if err := d.s.Do(context.Background(), event.Stop{}); err != nil && !errors.Is(err, feed.ErrEnded) {
				t.Fatal(err)
			}
			<-d.s.ended
			checkEpochs(t, d.m)
		})
	}
}

func anyCommand(dice *rand.Rand) event.Command {
	switch dice.IntN(14) {
	case 0, 1:
		return event.Pause{On: dice.IntN(3) == 0}
	case 2:
		return event.StepEpoch{}
	case 3:
		return event.StepInner{}
	case 4:
		return event.Switch{Optimizer: racers[dice.IntN(len(racers))].Optimizer}
	case 5:
		return event.Scale{Factor: 0.5 + dice.Float64()}
	case 6:
		return event.Spectrum{}
	case 7:
		return event.ShowErrors{Train: dice.IntN(2) == 0, Worst: 2}
	case 8:
		return event.Slice{}
	case 9:
		return event.Rewind{Epoch: dice.IntN(12)}
	case 10, 11:
		first := dice.IntN(len(racers) - 1)
		return event.Race{Racers: racers[first : first+2], Equivalents: float64(dice.IntN(40))}
	}
	return event.Pick{Racer: dice.IntN(4) - 1}
}

// checkEpochs follows the numbers of epochs through a run's events.
func checkEpochs(t *testing.T, m *memory) {
	t.Helper()
	epoch, laps, racing := -1, [maxRacers]int{}, false
	picked := -1
	for _, e := range m.events {
		switch e := e.(type) {
		case event.RaceEvent:
			if on := e.State == "begun"; on == racing {
				t.Errorf("a race is %s", e.State)
			}
			if e.State == "over" {
				continue
			}
			if racing, picked = e.State == "begun", e.Picked; e.State == "abandoned" {
				picked = -1
			}
		case event.LapEvent:
			if !racing || e.Lap.Epoch > 0 && e.Lap.Epoch != laps[e.Racer]+1 && e.Ended == "" {
				t.Errorf("lap %d of racer %d after %d", e.Lap.Epoch, e.Racer, laps[e.Racer])
			}
			laps[e.Racer] = e.Lap.Epoch
		case event.RewindEvent:
			if racing || e.Epoch != epoch {
				t.Errorf("%+v at epoch %d", e, epoch)
			}
			epoch = e.To
		case event.EpochEvent:
			next := epoch + 1
			if picked >= 0 && laps[picked] > 0 {
				next = epoch + laps[picked]
			}
			if picked = -1; racing || e.Epoch != next {
				t.Errorf("epoch %d: expected %d", e.Epoch, next)
			}
			epoch = e.Epoch
		case event.SwitchEvent:
			if racing {
				t.Errorf("%+v while racing", e)
			}
		case event.DoneEvent:
			if e.Epochs != epoch {
				t.Errorf("done after epoch %d: expected %d", e.Epochs, epoch)
			}
		}
	}
}
