package trackio

import (
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// putNumbers puts the numbers of a JSON object into a row, those of objects in it under a/b, and reports whether the
// text is an object. Objects with _type, as tables and pictures, are no numbers.
func putNumbers(to *logs.Row, text, prefix string) bool {
	v, _, err := jsontext.Decode([]byte(text))
	object, ok := v.(jsontext.Object)
	if err == nil && ok {
		putMembers(to, prefix, object)
	}
	return err == nil && ok
}

func putMembers(to *logs.Row, prefix string, object jsontext.Object) {
	for _, m := range object {
		switch v := m.Value.(type) {
		case float64:
			to.Set(prefix+m.Key, v)
		case string: // what is not finite
			switch v {
			case "NaN", "Infinity", "-Infinity":
				n, _ := logs.ParseNumber([]byte(v))
				to.Set(prefix+m.Key, n)
			}
		case jsontext.Object:
			if v.Get("_type") == nil {
				putMembers(to, prefix+m.Key+"/", v)
			}
		}
	}
}

// config returns the settings in the JSON object of a run: numbers, texts and truths, those of objects in it under a/b.
func config(text string) map[string]any {
	settings, err := jsontext.Flatten([]byte(text))
	if err != nil {
		return nil
	}
	for key := range settings {
		if strings.HasPrefix(key, "_") || strings.Contains(key, "/_") {
			delete(settings, key)
		}
	}
	return settings
}
