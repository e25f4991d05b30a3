package recorder

import (
	"cmp"
	"context"
	"database/sql"

	"newtop/trainer"
	"newtop/trainer/event"
	"newtop/trainer/store"
)

// ResumePoint is what trainer.Resume takes, and what there was besides.
type ResumePoint struct {
	Config  trainer.Config      // what the run began with, or was resumed last
	From    *trainer.Checkpoint // the newest that can be read; nil where there is none
	History []event.Event       // what was recorded up to the checkpoint, downsampled where it is long
	Skipped error               // why a newer checkpoint than From was passed over; nil: it is the newest
	Damage  error               // what of History is missing; nil: nothing
}

// Resumable returns what a recorder of Continue's resumes from. It comes before the first event.
func Resumable(ctx context.Context, r *Recorder) (rest ResumePoint, err error) {
	from := int64(0)
	var events []store.Numbered
	err = r.store.View(ctx, func(tx *sql.Tx) error {
		run, err := store.NewRunReader(ctx, tx, r.id)
		if err != nil {
			return err
		}
		var unreadable error
		err = store.EachRun(ctx, tx, "WHERE r.run = ?", []any{run.Run}, func(r *store.Run) bool {
			rest.Config, unreadable = r.Config, r.Readable()
			return false
		})
		if err = cmp.Or(err, unreadable); err != nil {
			return err
		}
		if from, rest.From, rest.Skipped, err = run.LatestSound(ctx); err != nil {
			return err
		}
		rest.Skipped = r.store.Wrap(ctx, rest.Skipped)
		run.Events = max(min(run.Events, from), 1)
		events, _, err = run.Whole(ctx)
		rest.Damage = run.Lost(r.store.Path(), false)
		return err
	})
	if err != nil {
		return ResumePoint{}, err
	}
	for _, n := range events {
		if _, over := n.Event.(event.DoneEvent); !over {
			rest.History = append(rest.History, n.Event)
		}
	}
	r.resumeFrom(from)
	return rest, nil
}
