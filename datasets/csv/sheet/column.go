package sheet

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"newtop/datasets/csv/lex"
)

// Bounds on the different fields of a column that are kept in memory.
const (
	maxNumbers = 1000   // numbers, of which few are classes
	MaxWords   = 20_000 // words, of which rare ones are one category later
)

// Column is what the fields of a column are like, the header left out.
type Column struct {
	Name    string
	Unnamed bool // the header has no name for it, as for pandas' index

	Numbers      int // fields that are written like a number
	Words        int // other fields that have a value
	Missing      int // fields that have none
	TrainMissing int // of these, those of rows that are not for testing

	Values         map[string]struct{} // the different numbers, unless there are too many
	TooManyNumbers bool                // whether there are
	// the different words, and how many rows to train on have them, unless there are too many
	Counts       map[string]int
	TooManyWords bool // whether there are
	// how many different fields there are, an estimate where there are too many; of numbers only up to that
	Distinct int

	Dates  int                   // of the words, those that are dates
	Timed  int                   // of the dates, those with a time of day
	Orders map[lex.DateOrder]int // of the dates, how many can be read in an order

	Dress        map[string]*Dress // of the words that are numbers in another style, for each unit
	LeadingZeros int               // of the numbers, those that are digits with a zero before them
	width        [2]int32          // of the shortest and the longest number
	grouped      bool              // whether the point parts thousands alone, or nothing

	CountsRows  bool // whether it counts the rows of each source by one
	firstNumber float64
	Whole       bool // whether its numbers have no fraction
}

// Numeric reports whether nine in ten fields are numbers, or all but one: in a short table, too, a stray
// word is a slip and not a category.
func (c *Column) Numeric() bool { return Mostly(c.Numbers, c.Words) }

// Dated reports whether nine in ten fields are dates, or all but one, and not all of these may be seasons.
func (c *Column) Dated() bool {
	return Mostly(c.Dates, c.Words-c.Dates+c.Numbers) && (c.Orders[lex.Season] < c.Dates || c.Orders[lex.Season] == 0)
}

// OfSeveralYears reports whether dates are of several years, the last of their parts.
func (c *Column) OfSeveralYears() bool {
	year := 0
	for word := range c.Counts {
		if d := lex.ReadDate(word); d.Orders != 0 {
			if year != 0 && d.Year() != year {
				return true
			}
			year = d.Year()
		}
	}
	return false
}

// Mostly reports whether some are nine tenths or more of both, or all but one.
func Mostly(some, others int) bool { return some > 0 && 9*others <= some || some > 1 && others == 1 }

// Boolean reports whether all words are of one pair such as yes and no.
func (c *Column) Boolean() bool {
	nones, boolean := c.besideNone()
	return boolean && nones == nil
}

// besideNone reports whether all words but None, however it is written, are of one pair such as yes and no.
func (c *Column) besideNone() (nones []string, boolean bool) {
	if c.Numbers > 0 || c.TooManyWords || len(c.Counts) < 2 || len(c.Counts) > 32 {
		return nil, false
	}
	which, both := -1, [2]bool{}
	for text := range c.Counts {
		if lex.IsNone(text) {
			nones = append(nones, text)
			continue
		}
		pair, is := lex.ParseTruth(text)
		if pair < 0 || which >= 0 && pair != which {
			return nil, false
		}
		which = pair
		if is {
			both[0] = true
		} else {
			both[1] = true
		}
	}
	return nones, both[0] && both[1]
}

// Truths returns the most frequent way to write yes, and no, of a boolean column, in order.
func (c *Column) Truths() []string {
	var of [2]string
	for _, text := range slices.Sorted(maps.Keys(c.Counts)) {
		k := 0
		if _, is := lex.ParseTruth(text); is {
			k = 1
		}
		if of[k] == "" || c.Counts[text] > c.Counts[of[k]] {
			of[k] = text
		}
	}
	return slices.Sorted(slices.Values(of[:]))
}

// ValueCount returns how many fields have a value.
func (c *Column) ValueCount() int { return c.Numbers + c.Words }

// identifiers are names of columns that tell rows apart, and ends of such names.
var (
	identifiers = regexp.MustCompile(`(?i)^(id|ids|idx|index|key|uuid|guid|row|rows|rownames?|` +
		`row[ _.-]?(id|no|nr|number|index)|no|nr|#|unnamed: \d+)$`)
	identifierEnds = regexp.MustCompile(`(?:[ _.-](?i:id|idx|index|uuid|guid|key)|[a-z0-9](?:Id|ID|UUID))$`)
)

// NamedLikeIdentifier reports whether the column is called like one that tells rows apart, or has no name where others
// have.
func (c *Column) NamedLikeIdentifier() bool {
	if c.Unnamed {
		return true
	}
	name := strings.TrimSpace(c.Name)
	return identifiers.MatchString(name) || identifierEnds.MatchString(name)
}

// Texts returns all different fields.
func (c *Column) Texts() map[string]struct{} {
	all := maps.Clone(c.Values)
	for word := range c.Counts {
		all[word] = struct{}{}
	}
	return all
}

// Whole numbers in the target column are classes if they have at most classValues different values and
// each of them is there ClassRows times on average; otherwise they are numbers.
const (
	classValues = 20
	ClassRows   = 5
)

// ClassNumbers returns the different values of a numeric column, ascending, or nothing if there are too
// many for classes or not all are whole.
func (c *Column) ClassNumbers(style lex.Numerals) []float64 {
	seen := make(map[float64]bool)
	if c.TooManyNumbers || c.Words > 0 {
		return nil
	}
	for text := range c.Values {
		v, ok := style.Parse(text)
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

// StartsLikeRowNumbers reports whether the numbers of a column that counts begin where row numbers do: anywhere where
// its name says that it has them.
func (c *Column) StartsLikeRowNumbers(s *Sheet) bool {
	return c.firstNumber == 0 || c.firstNumber == 1 || s.HasHeader && c.NamedLikeIdentifier()
}
