package trackio

import (
	"strings"

	"newtop/trainer/logs"
	"newtop/trainer/logs/jsontext"
)

// putNumbers puts the numbers of a JSON object into a row, and reports whether the text is an object.
func putNumbers(to *logs.Row, text, prefix string) bool {
	v, _, err := jsontext.Decode([]byte(text))
	object, ok := v.(jsontext.Object)
	if err == nil && ok {
		object.Numbers(prefix, to.Set)
	}
	return err == nil && ok
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
