package flags

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"newtop/datasets"
	"newtop/internal/format"
	"newtop/trainer"
)

// Unrecorded is what --record takes for a run that is not kept.
const Unrecorded = "off"

// CommandLine is the root command's annotation with the arguments that the program was started with.
const CommandLine = "command line"

// Absolute returns c as it is recorded, for a run that is resumed elsewhere: with files that can be found from any
// directory, and without the secrets of its model's program.
func Absolute(c trainer.Config) trainer.Config {
	known := func(name string) bool {
		for _, d := range datasets.List() {
			if d.Name == name {
				return true
			}
		}
		return false
	}
	here := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if !known(c.Data) && here(c.Data) {
		c.Data = AbsolutePath(c.Data)
	} else if strings.ContainsAny(c.Data, ",*?[") {
		parts := strings.Split(c.Data, ",")
		for i, part := range parts {
			if files, err := filepath.Glob(part); here(part) || err == nil && files != nil {
				parts[i] = AbsolutePath(part)
			}
		}
		c.Data = strings.Join(parts, ",")
	}
	if _, err := strconv.ParseFloat(c.Test, 64); err != nil && here(c.Test) {
		c.Test = AbsolutePath(c.Test)
	}
	if here(c.Model) {
		c.Model = AbsolutePath(c.Model)
	} else if text := strings.Fields(c.Model); len(text) > 1 {
		for i, word := range text {
			if info, err := os.Stat(word); err == nil && info.Mode().IsRegular() {
				text[i] = AbsolutePath(word)
			}
		}
		c.Model = format.Masked(strings.Join(text, " "))
	} else {
		c.Model = format.Masked(c.Model)
	}
	c.DataDir, c.Graph, c.Save = AbsolutePath(c.DataDir), AbsolutePath(c.Graph), AbsolutePath(c.Save)
	return c
}

// AbsolutePath leaves an empty path, and one in a directory that is gone, as it is.
func AbsolutePath(path string) string {
	if path == "" {
		return ""
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// AtStore returns what a command has behind it that is about the runs of --record; nothing for the default place.
func AtStore(record string) string {
	if record == "" {
		return ""
	}
	return " --record " + format.Quote(record)
}
