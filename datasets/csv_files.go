package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"newtop/datasets/convert"
	"newtop/datasets/fault"
)

// csvFiles are the files of a table, in the order in which its rows follow one another: those to train on, that many,
// and then those to test on.
type csvFiles struct {
	paths  []string
	trains int
	tested bool // whether the files to train on say themselves which of their rows are for testing
}

// trainOn returns files to train on.
func trainOn(paths ...string) *csvFiles { return &csvFiles{paths: paths, trains: len(paths)} }

// name names a table after its files to train on.
func (f *csvFiles) name() string {
	names := make([]string, f.trains)
	for i, path := range f.paths[:f.trains] {
		names[i] = filepath.Base(path)
	}
	if last := len(names) - 1; last > 1 {
		names = []string{names[0], "…", names[last]}
	}
	return strings.Join(names, ",")
}

// findCSV finds the files that name means: one, all *.csv and *.csv.gz of a directory or else all tables of other
// formats, those that a pattern such as parts/*.csv matches, or several of these parted by commas. A file that has such
// a name wins. They are sorted by name, and none comes twice. What is not there is looked for in dir, if that is given.
// It returns a *NotFoundError for what is nowhere.
func findCSV(name, dir string) (*csvFiles, error) {
	if paths, err := findIn(name, dir); err == nil || !strings.Contains(name, ",") {
		return trainOn(paths...), err
	}
	var all []string
	for part := range strings.SplitSeq(name, ",") {
		if part == "" {
			return nil, fmt.Errorf("%s: expected the name of a file before and behind each comma", name)
		}
		paths, err := findIn(part, dir)
		if err != nil {
			return nil, err
		}
		all = append(all, paths...)
	}
	slices.Sort(all)
	return trainOn(slices.Compact(all)...), nil
}

// withTests adds the files of rows to test on that Options.Test names, unless it is a number.
func (f *csvFiles) withTests(o *Options) (*csvFiles, error) {
	if _, err := strconv.ParseFloat(o.Test, 64); o.Test == "" || err == nil {
		return f, nil
	}
	tests, err := findCSV(o.Test, o.Dir)
	if err != nil {
		return nil, &fault.OptionError{Field: "test", Value: o.Test,
			Expected: "a number of rows, a fraction between 0 and 1, or a file: " + err.Error()}
	}
	for _, path := range tests.paths {
		if slices.Contains(f.paths, path) {
			return nil, &fault.OptionError{Field: "test", Value: o.Test,
				Expected: "another file than " + path + ", which is trained on"}
		}
	}
	return &csvFiles{paths: append(slices.Clone(f.paths), tests.paths...), trains: f.trains}, nil
}

// findIn returns the paths of the files that a name means, in dir if there are no others.
func findIn(name, dir string) ([]string, error) {
	paths, err := expand(name)
	if _, missing := errors.AsType[*NotFoundError](err); missing && dir != "" && !filepath.IsAbs(name) {
		if found, other := expand(filepath.Join(dir, name)); other == nil {
			return found, nil
		}
	}
	return paths, err
}

// expand returns the paths of the files that a name without commas means, sorted.
func expand(name string) ([]string, error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && !info.IsDir():
		return []string{name}, nil
	case err == nil:
		entries, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		csv, others := tablesIn(name, entries)
		if csv == nil {
			csv = others
		}
		return visible(csv, &NotFoundError{Name: filepath.Join(name, "*.csv")})
	case strings.ContainsAny(name, "*?["):
		paths, err := filepath.Glob(name)
		if err != nil {
			return nil, fmt.Errorf("%s: expected a pattern such as parts/*.csv (%w)", name, err)
		}
		return visible(paths, &NotFoundError{Name: name})
	case errors.Is(err, fs.ErrNotExist):
		return nil, &NotFoundError{Name: name}
	}
	return nil, err
}

// tablesIn returns which files of a directory are called like CSV, and like tables of other formats.
func tablesIn(dir string, entries []os.DirEntry) (csv, others []string) {
	for _, e := range entries {
		ending := filepath.Ext(strings.TrimSuffix(e.Name(), ".gz"))
		path := filepath.Join(dir, e.Name())
		if ending == ".csv" {
			csv = append(csv, path)
		} else if slices.Contains(convert.Endings, ending) {
			others = append(others, path)
		}
	}
	return csv, others
}

// visible returns the regular files but those whose names begin with a point, or an error if there are none.
func visible(all []string, none error) (paths []string, err error) {
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() &&
			!strings.HasPrefix(filepath.Base(path), ".") {
			paths = append(paths, path)
		}
	}
	if paths == nil {
		return nil, none
	}
	return paths, nil
}
