package datasets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"newtop/datasets/convert"
)

// csvFiles are the CSV files of a table, in the order in which its rows follow one another.
type csvFiles struct{ paths []string }

// name names a table after its files.
func (f *csvFiles) name() string {
	names := make([]string, len(f.paths))
	for i, path := range f.paths {
		names[i] = filepath.Base(path)
	}
	if last := len(names) - 1; last > 1 {
		names = []string{names[0], "…", names[last]}
	}
	return strings.Join(names, ",")
}

// findCSV finds the files that name means: one, all *.csv and *.csv.gz of a directory or else all tables of other formats, those that a pattern such as parts/*.csv matches, or
// several of these parted by commas. A file that has such a name wins. They are sorted by name, and none comes twice. What is
// not there is looked for in dir, if that is given. It returns a *NotFoundError for what is nowhere.
func findCSV(name, dir string) (*csvFiles, error) {
	if paths, err := findIn(name, dir); err == nil || !strings.Contains(name, ",") {
		return &csvFiles{paths}, err
	}
	f := &csvFiles{}
	for part := range strings.SplitSeq(name, ",") {
		if part == "" {
			return nil, fmt.Errorf("%s: expected the name of a file before and behind each comma", name)
		}
		paths, err := findIn(part, dir)
		if err != nil {
			return nil, err
		}
		f.paths = append(f.paths, paths...)
	}
	slices.Sort(f.paths)
	f.paths = slices.Compact(f.paths)
	return f, nil
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
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !strings.HasPrefix(filepath.Base(path), ".") {
			paths = append(paths, path)
		}
	}
	if paths == nil {
		return nil, none
	}
	return paths, nil
}
