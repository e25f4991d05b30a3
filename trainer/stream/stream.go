// Package stream shows runs that are trained, or were trained, elsewhere: events from the run store, from JSON lines
// of any program, and from TensorBoard's event files. It follows what grows, and replays what is over.
//
//	             Next                batches              Show, Restart              Delta (Wait)
//	Source ────────────► reader ───────────────► Player.Run ─────────────► Relay ─────────────────► viewer
//	   file, pipe,       one goroutine           owns the history   ◄─────────────────────────────
//	   directory, store  asks the source         and the position            Command (Do)
//
// Who ends what, in this order: the context's end makes the source's Next and Wait return; the reader closes the
// channel of batches; Run waits for that, closes the source, lets callers of Do have ErrEnded, and returns. The feeds
// of viewers outlive it.
package stream

import (
	"newtop/trainer/logs"
	"newtop/trainer/logs/files"
)

// maxSettingsFile is the longest hparams.yaml that is read.
const maxSettingsFile = 64 << 10

// settingsBeside returns the settings that Lightning's loggers write beside a log, in hparams.yaml.
func settingsBeside(dir files.Path) logs.Info {
	path := dir.Join("hparams.yaml")
	if info, err := path.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxSettingsFile {
		return logs.Info{}
	}
	text, _ := path.Read(maxSettingsFile)
	return logs.Info{Config: logs.Settings(string(text))}
}
