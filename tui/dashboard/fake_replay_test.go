package dashboard

import (
	"time"

	"newtop/trainer/event"
	"newtop/trainer/feed"
	"newtop/tui/internal/tuitest"
)

// replayOf is a made-up run of so many epochs as it is watched: shown up to an epoch.
func replayOf(s tuitest.Script, shown int, phase event.Phase, r event.Replay) []feed.Delta {
	all := tuitest.NewRun(s)
	r.Last = s.Epochs
	r.Length = all[len(all)-1].Status.Elapsed
	r.Epoch = shown
	var out []feed.Delta
	for i := range all {
		d := all[i]
		if d.Status.Epoch > shown || d.Status.Epoch == shown && len(d.Inner) > 0 {
			break
		}
		r.At = d.Status.Elapsed
		now := r
		d.Status.Replay, d.Status.RewindEpochs = &now, nil
		d.Status.Phase = phase
		if d.Done != nil && phase != event.Ended {
			break
		}
		out = append(out, d)
	}
	return out
}

// withRecording is a run of newtop's whose record is doing like this.
func withRecording(r event.Recording) []feed.Delta {
	deltas := tuitest.NewRun(tuitest.Script{Epochs: 33, Spectra: true})
	for i := range deltas {
		deltas[i].Status.Recording = event.Recording{Run: r.Run, Path: r.Path}
		if deltas[i].Status.Epoch > 30 {
			deltas[i].Status.Recording = r
		}
	}
	return deltas
}

// replayScenes are the states of watched and of recorded runs that have pictures of their own.
var replayScenes = []string{"live", "pipe", "replay", "paused", "ended", "loading", "stale", "resumed", "foreign", "figures", "recorded", "full-disk", "lost"}

// replayScene returns one of them, nil for another name.
func replayScene(name string) []feed.Delta {
	full := tuitest.Script{Epochs: 40, Spectra: true, Skips: true, Fate: "done"}
	source := event.Replay{Source: "letters-21a7", Seekable: true, Speed: 1}
	live := source
	live.Live = true
	run := event.Recording{Run: "20261121-1504-k3f", Path: "runs.db"}
	switch name {
	case "live":
		return replayOf(tuitest.Script{Epochs: 33, Spectra: true, Skips: true}, 33, event.Running, live)
	case "pipe":
		return replayOf(tuitest.Script{Epochs: 33}, 33, event.Running, event.Replay{Source: "standard input", Live: true, Speed: 1})
	case "replay":
		source.Speed = 4
		return replayOf(full, 14, event.Running, source)
	case "paused":
		return replayOf(full, 20, event.Paused, source)
	case "ended":
		return replayOf(full, 40, event.Ended, source)
	case "loading":
		source.Loading, source.Seekable = 0.43, false
		return replayOf(full, 17, event.Running, source)
	case "stale":
		live.Stale = "its writer is gone: box 4711 ended at 12:04"
		return replayOf(tuitest.Script{Epochs: 33}, 33, event.Running, live)
	case "resumed":
		deltas := replayOf(tuitest.Script{Epochs: 33, Spectra: true}, 33, event.Running, live)
		d := &deltas[len(deltas)-1]
		d.Resumes = []event.ResumeEvent{{Epoch: 20, Time: time.Date(2026, 11, 21, 15, 4, 0, 0, time.Local)}}
		d.Saved = []event.SavedEvent{{Epoch: 33, File: "letters-e33.onnx", Format: "onnx", Bytes: 48_211}}
		return deltas
	case "foreign", "figures":
		return tuitest.ExternalRun(43, name == "figures")
	case "recorded":
		return withRecording(run)
	case "full-disk":
		run.Backlog, run.Warning = 812, "runs.db: no space left on device"
		return withRecording(run)
	case "lost":
		run.Backlog, run.Lost = 99_000, 12_345
		return withRecording(run)
	}
	return nil
}
