package csv

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Bounds on the different fields of a column that are kept in memory.
const (
	maxNumbers = 1000   // numbers, of which few are classes
	maxWords   = 20_000 // words, of which rare ones are one category later
)

// column is what the fields of a column are like, the header left out.
type column struct {
	name    string
	unnamed bool // the header has no name for it, as for pandas' index

	numbers      int // fields that are written like a number
	words        int // other fields that have a value
	missing      int // fields that have none
	trainMissing int // of these, those of rows that are not for testing
	width        int // bytes in which each number is exact, see narrowest; 0 without numbers

	values         map[string]struct{} // the different numbers, unless there are too many
	tooManyNumbers bool                // whether there are
	// the different words, and how many rows to train on have them, unless there are too many
	counts       map[string]int
	tooManyWords bool // whether there are
	// how many different fields there are, an estimate where there are too many; of numbers only up to that
	distinct int

	dates  int               // of the words, those that are dates
	timed  int               // of the dates, those with a time of day
	orders map[dateOrder]int // of the dates, how many can be read in an order

	styles [len(otherStyles)]int // of the words, how many are numbers in another style

	countsRows  bool // whether it counts the rows of each source by one
	firstNumber float64
	whole       bool // of a column that is named like an identifier: whether its numbers have no fraction
}

// numeric reports whether nine in ten fields are numbers, or all but one: in a short table, too, a stray
// word is a slip and not a category.
func (c *column) numeric() bool { return mostly(c.numbers, c.words) }

// dated reports whether nine in ten fields are dates, or all but one.
func (c *column) dated() bool { return mostly(c.dates, c.words-c.dates+c.numbers) }

func mostly(some, others int) bool { return some > 0 && 9*others <= some || some > 1 && others == 1 }

// boolean reports whether all words are of one pair such as yes and no.
func (c *column) boolean() bool {
	if c.numbers > 0 || c.tooManyWords || len(c.counts) < 2 || len(c.counts) > 6 {
		return false
	}
	which, both := -1, [2]bool{}
	for text := range c.counts {
		pair, is := parseTruth(text)
		if pair < 0 || which >= 0 && pair != which {
			return false
		}
		which = pair
		if is {
			both[0] = true
		} else {
			both[1] = true
		}
	}
	return both[0] && both[1]
}

// valueCount returns how many fields have a value.
func (c *column) valueCount() int { return c.numbers + c.words }

// identifiers are names of columns that tell rows apart, and ends of such names.
var (
	identifiers    = regexp.MustCompile(`(?i)^(id|ids|idx|index|key|uuid|guid|row|rows|rownames?|row[ _.-]?(id|no|nr|number|index)|no|nr|#|unnamed: \d+)$`)
	identifierEnds = regexp.MustCompile(`(?:[ _.-](?i:id|idx|index|uuid|guid|key)|[a-z0-9](?:Id|ID|UUID))$`)
)

// namedLikeIdentifier reports whether the column is called like one that tells rows apart, or has no name where others have.
func (c *column) namedLikeIdentifier() bool {
	if c.unnamed {
		return true
	}
	name := strings.TrimSpace(c.name)
	return identifiers.MatchString(name) || identifierEnds.MatchString(name)
}

// texts returns all different fields.
func (c *column) texts() map[string]struct{} {
	all := maps.Clone(c.values)
	for word := range c.counts {
		all[word] = struct{}{}
	}
	return all
}

// classValues bounds the different values of a target whose whole numbers are classes.
const classValues = 20

// classNumbers returns the different values of a numeric column, ascending, or nothing if there are too
// many for classes or not all are whole.
func (c *column) classNumbers(style numerals) []float64 {
	seen := make(map[float64]bool)
	if c.tooManyNumbers || c.words > 0 {
		return nil
	}
	for text := range c.values {
		v, ok := style.parse(text)
		if !ok || v != math.Trunc(v) {
			return nil
		}
		seen[v+0] = true
	}
	if len(seen) > classValues {
		return nil
	}
	return slices.SortedFunc(maps.Keys(seen), cmp.Compare[float64])
}

// startsLikeRowNumbers reports whether the numbers of a column that counts begin where row numbers do: anywhere where its name says
// that it has them.
func (c *column) startsLikeRowNumbers(s *Sheet) bool {
	return c.firstNumber == 0 || c.firstNumber == 1 || s.hasHeader && c.namedLikeIdentifier()
}
