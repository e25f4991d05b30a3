package datasets

import (
	"errors"
	"strings"
	"testing"
)

func TestListTellsWhatLoadGives(t *testing.T) {
	list := List()
	if list[0].Name != "letters" {
		t.Errorf("the default is not first but %s", list[0].Name)
	}
	for _, info := range list {
		if info.Title == "" || info.Source == "" {
			t.Errorf("%s: title %q, source %q", info.Name, info.Title, info.Source)
		}
		if (info.Task == Regression) != (info.Classes == 0) {
			t.Errorf("%s: %s with %d classes", info.Name, info.Task, info.Classes)
		}
		if info.Kind != Generated {
			continue
		}
		d := mustLoad(t, info.Name, Options{})
		if d.Name != info.Name || d.Train.Rows()+d.Test.Rows() != info.Rows || d.Inputs() != info.Inputs ||
			d.Outputs() != info.Outputs || len(d.Classes) != info.Classes {
			t.Errorf("%+v, but Load gives %d + %d rows, %d inputs, %d outputs, %d classes",
				info, d.Train.Rows(), d.Test.Rows(), d.Inputs(), d.Outputs(), len(d.Classes))
		}
	}
}

func TestUnknownNames(t *testing.T) {
	for name, near := range map[string][]string{
		"leters":  {"letters", "letter"},
		"minst":   {"mnist"},
		"fash":    {"fashion"},
		"bpls":    {"bpls-linear", "bpls-sigmoid"},
		"LETTERS": {"letters", "letter"},
		"qqqqqqq": nil,
	} {
		_, err := Load(name, Options{})
		e, ok := errors.AsType[*UnknownError](err)
		if !ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := strings.Join(near, " or "); !strings.Contains(e.Error(), want) || (near == nil) == strings.Contains(e.Error(), "did you mean") || len(e.Known) != len(List()) {
			t.Errorf("%s: %v; expected %s to be proposed", name, e, want)
		}
	}
}

func TestMissingFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("NEWTOP_CACHE", dir)
	for name, want := range map[string]string{
		"letter":      "letter-recognition.data",
		"mnist":       "train-images-idx3-ubyte",
		"fashion":     "Fetch fashion, or say where it is with DataDir DIR",
		"./gone.csv":  "./gone.csv",
		"gone/table":  "gone/table",
		"missing.csv": "missing.csv",
	} {
		_, err := Load(name, Options{})
		if _, ok := errors.AsType[*NotFoundError](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", name, err)
		}
	}
	if _, err := Load("mnist", Options{}); !strings.Contains(err.Error(), dir) {
		t.Errorf("%v does not name the cache", err)
	}
	if _, err := Load(dir+"/", Options{}); err == nil {
		t.Error("a directory was loaded")
	}
}

func TestCacheDir(t *testing.T) {
	t.Setenv("NEWTOP_CACHE", "")
	t.Setenv("XDG_CACHE_HOME", "/somewhere")
	t.Setenv("HOME", "/home/somebody")
	if dir, err := CacheDir(); err != nil || !strings.HasSuffix(dir, "newtop") {
		t.Errorf("%q, %v", dir, err)
	}
	t.Setenv("NEWTOP_CACHE", "/elsewhere")
	if dir, err := CacheDir(); err != nil || dir != "/elsewhere" {
		t.Errorf("%q, %v", dir, err)
	}
}
