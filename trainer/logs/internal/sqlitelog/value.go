package sqlitelog

import (
	"database/sql/driver"
	"fmt"
	"math"
	"slices"
	"strings"

	"newtop/internal/format"
	"newtop/trainer/logs"
)

// Text returns a column's text, empty where it has none.
func Text(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

// Int returns a column's whole number, 0 where it has none.
func Int(v driver.Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case float64:
		if math.Abs(v) < 1<<62 {
			return int64(v)
		}
	case bool:
		if v {
			return 1
		}
	}
	return 0
}

// Float returns a column's number, NaN where it has none.
func Float(v driver.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case float64:
		return v
	}
	return math.NaN()
}

// Choose returns the index of the run that is asked for: by its ID, its name, or the beginning of one ID or name; of
// runs of the same name the first. It returns an error that says what there is.
func Choose(asked string, runs []logs.Run) (int, error) {
	for _, same := range []func(logs.Run) bool{
		func(r logs.Run) bool { return r.ID == asked },
		func(r logs.Run) bool { return r.Name == asked },
	} {
		if i := slices.IndexFunc(runs, same); i >= 0 {
			return i, nil
		}
	}
	var near []int
	var names []string
	for i, r := range runs {
		if strings.HasPrefix(r.ID, asked) || strings.HasPrefix(r.Name, asked) {
			near = append(near, i)
		}
		names = append(names, r.Name)
	}
	switch {
	case len(near) == 1:
		return near[0], nil
	case len(near) > 1:
		return 0, fmt.Errorf("run %s: %d runs begin so: expected more of the ID or name", asked, len(near))
	case len(runs) == 0:
		return 0, fmt.Errorf("run %s: there are no runs yet", asked)
	}
	return 0, fmt.Errorf("run %s: expected the ID or name of a run, or a unique beginning of one%s", asked,
		format.DidYouMean(asked, names))
}
