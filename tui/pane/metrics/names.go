package metrics

import "strings"

// part says which rows a value is of, as far as its name does.
type part uint8

const (
	plain part = iota // its name does not say
	train
	held // rows that are not trained on
	test // the same, where there are two kinds of them
)

var partText = map[string]part{
	"train": train, "training": train, "tr": train, "fit": train,
	"val": held, "valid": held, "validation": held, "eval": held, "evaluation": held, "dev": held,
	"test": test, "testing": test,
}

// between are the characters that separate the words of a name.
const between = "/_-.: "

// split takes the first or the last word from a name if that says which rows the value is of: train/x, x_val and val_x
// are all of the base x. A name without such a word is its own base, and so is one that has nothing else.
func split(name string) (base string, p part) {
	if i := strings.IndexAny(name, between); i > 0 && i < len(name)-1 {
		if p, ok := partText[strings.ToLower(name[:i])]; ok {
			return name[i+1:], p
		}
	}
	if i := strings.LastIndexAny(name, between); i > 0 && i < len(name)-1 {
		if p, ok := partText[strings.ToLower(name[i+1:])]; ok {
			return name[:i], p
		}
	}
	return name, plain
}

// groupOf is the heading that a name stands under: what is before its first slash, or its first dot where it has no
// slash.
func groupOf(name string) string {
	for _, sep := range []string{"/", "."} {
		if i := strings.Index(name, sep); i > 0 {
			return name[:i]
		}
	}
	return ""
}
