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
