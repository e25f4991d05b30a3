package form

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"newtop/datasets/csv/lex"
	"newtop/datasets/fault"
	"newtop/internal/format"
)

// Of a text that many lines at its start are looked at, and at its end at most as many may be none of the table.
const (
	maxSample = 1000
	maxEnd    = 20
)

// sample is what the start of a text has.
type sample struct {
	lines   []string
	counts  []int // fields of each line with the separator; 0: an empty line, or one inside quotes
	columns int   // what most of them have
}

// Sniff finds out how a text is written by a vote of its lines, or takes what the options say. It returns a
// *fault.OptionError or a *fault.FormatError.
func Sniff(t Text, file string, o *lex.Options) (*Form, error) {
	f := new(Form)
	if err := f.voteEncoding(&t, file, o.Encoding); err != nil {
		return nil, err
	}
	f.voteBreaks(&t)
	s := sample{lines: strings.Split(strings.ReplaceAll(string(t.Head), "\r\n", "\n"), "\n")}
	if t.Lines == 0 || len(s.lines) > t.Lines {
		t.Lines = len(s.lines)
	} else if len(s.lines) > 1 {
		s.lines = s.lines[:len(s.lines)-1] // which may be cut
	}
	s.lines = s.lines[:min(len(s.lines), maxSample)]
	skip, end, err := parseSkip(o.Skip)
	if err != nil {
		return nil, err
	}
	f.skip = max(skip, 0)
	f.Separator = separators[o.Separator]
	if f.Separator == "" {
		f.Separator = o.Separator
	}
	f.voteMarks(&s, o.Comment)
	f.voteSeparator(&s)
	if s.columns < 2 {
		return f, nil // which the reader refuses
	}
	if skip < 0 {
		f.voteSkip(&s)
	}
	f.voteHeader(&s, o)
	switch {
	case end > 0:
		f.end = t.Lines - end
		for lines := strings.Split(string(t.Tail), "\n"); len(lines) > 0 && lines[len(lines)-1] == ""; f.end-- {
			lines = lines[:len(lines)-1]
		}
	case end < 0:
		f.voteEnd(&s, t)
	}
	return f, nil
}

// voteBreaks finds out whether lines end in carriage returns alone, as on old Macs, and whether the text ends in DOS's
// mark of its end, which becomes a line feed.
func (f *Form) voteBreaks(t *Text) {
	if bytes.IndexByte(t.Head, '\n') < 0 && bytes.IndexByte(t.Head, '\r') >= 0 {
		f.breaks, t.Lines = "\r", t.Returns+1
	}
	if bytes.HasSuffix(bytes.TrimRight(t.Tail, "\r\n"), []byte{0x1a}) {
		f.breaks += "\x1a"
		t.Lines++
	}
	breakLines(t.Head, f.breaks)
	breakLines(t.Tail, f.breaks)
}

// separators are names of the option's for what is hard to write.
var separators = map[string]string{"tab": "\t", `\t`: "\t", "comma": ",", "semicolon": ";", "pipe": "|",
	"blank": Blanks, "blanks": Blanks, "space": Blanks, " ": Blanks}

// parseSkip reads how many lines are left out at the start, and behind a slash at the end; −1 where it does not say
// so.
func parseSkip(text string) (start, end int, err error) {
	if text == "" {
		return -1, -1, nil
	}
	first, last, both := strings.Cut(text, "/")
	start, err = strconv.Atoi(first)
	if end = -1; both && err == nil {
		end, err = strconv.Atoi(last)
	} else if start == 0 {
		end = 0
	}
	if err != nil || start < 0 || both && end < 0 {
		return 0, 0, &fault.OptionError{Field: "skip", Value: text,
			Expected: "a number of lines at the start, or START/END with one at the end"}
	}
	return start, end, nil
}

// hint is Excel's first line that says what separates the fields.
var hint = regexp.MustCompile(`(?i)^"?sep=(.|\\t)"?$`)

// voteMarks finds lines that are none of the table by what they begin with.
func (f *Form) voteMarks(s *sample, option string) {
	if len(s.lines) > f.skip {
		if m := hint.FindStringSubmatch(strings.TrimSpace(s.lines[f.skip])); m != nil {
			f.skip++
			if f.Separator == "" {
				f.Separator = strings.ReplaceAll(m[1], `\t`, "\t")
				f.note("fields are parted by %q, as the first line says; --table separator= says otherwise",
					f.Separator)
			}
		}
	}
	if f.comment = option; option == "none" {
		f.comment = ""
	}
	if option != "" {
		return
	}
	for _, mark := range []string{"#", "%", "//", "--"} {
		first, n, filled := -1, 0, 0
		for i, line := range s.lines[min(f.skip, len(s.lines)):] {
			line = strings.TrimSpace(line)
			if line != "" {
				filled++
			}
			if strings.HasPrefix(line, mark) && !isRule(line) {
				if n++; first < 0 && filled == 1 {
					first = i
				}
			}
		}
		if first >= 0 && filled-n > 1 {
			f.comment = mark
			f.note("lines that begin with %s are passed over; --table comment=none takes them for rows", mark)
			return
		}
	}
}

// voteSeparator finds out what fields are parted by: that by which most lines have the same number of them, of several
// that which leaves the most numbers.
func (f *Form) voteSeparator(s *sample) {
	if f.Separator != "" {
		f.measure(s, f.Separator)
		return
	}
	type vote struct {
		separator       string
		share, numbers  float64
		counts, columns []int
		width           int
	}
	var best vote
	for _, separator := range []string{",", ";", "\t", "|", "\x01", "~", "^", "||", "::", Blanks, Fixed} {
		c := sample{lines: s.lines}
		share, numbers := f.measure(&c, separator)
		v := vote{separator, share, numbers, c.counts, f.columns, c.columns}
		f.columns = nil
		better := share > best.share+0.02 || share > best.share-0.02 && numbers > best.numbers+1e-9
		switch separator {
		case "||", "::", "~", "^":
			better = share > 0.9 && numbers > best.numbers
		case Blanks, Fixed:
			// A blank is a part of words elsewhere.
			better = share > 0.5 && (best.share < 0.5 ||
				share >= best.share && numbers > max(best.numbers+1e-9, 0.6))
		}
		if separator == Fixed { // which all lines have that leave blanks in the same places
			better = share > best.share+0.02 && (best.separator == Blanks || best.share < 0.5)
		}
		if c.columns > 1 && (best.separator == "" || better) {
			best = v
		}
	}
	if best.share < 0.5 {
		return // no table, or one of which the rows differ
	}
	switch f.Separator = best.separator; f.Separator {
	case Blanks:
		f.note("fields are parted by blanks; --table separator= says otherwise")
	case Fixed:
		f.note("fields have fixed widths, %d columns; --table separator= says otherwise", best.width)
		f.columns = best.columns
	case "|", "\x01", "~", "^", "||", "::":
		f.note("fields are parted by %q; --table separator= says otherwise", f.Separator)
	}
	s.counts, s.columns = best.counts, best.width
	if f.Separator == "|" {
		f.voteFrame(s)
	}
}

// voteFrame finds out whether lines begin and end in a separator.
func (f *Form) voteFrame(s *sample) {
	edges, filled := 0, 0
	for i, line := range s.lines {
		if s.counts[i] > 1 {
			filled++
			if line = strings.TrimSpace(line); strings.HasPrefix(line, "|") && strings.HasSuffix(line, "|") {
				edges++
			}
		}
	}
	rules := slices.ContainsFunc(s.lines, func(line string) bool { return isRule(line) && line != "" })
	if f.framed = filled > 1 && edges == filled || rules; f.framed {
		for i := range s.counts {
			if edges == filled && s.counts[i] > 2 {
				s.counts[i] -= 2
			}
		}
		s.columns = mode(s.counts)
	}
}

// fixedColumns returns where the fields of lines begin between which all are blank, nil where that tells nothing.
func fixedColumns(lines []string) (starts []int) {
	var used []bool
	n := 0
	for _, line := range lines {
		if strings.TrimSpace(line) == "" || isRule(line) {
			continue
		}
		n++
		for i, r := range []rune(strings.ReplaceAll(line, "\t", "        ")) {
			if i >= len(used) {
				used = append(used, make([]bool, i+1-len(used))...)
			}
			used[i] = used[i] || r != ' '
		}
	}
	if n < 5 {
		return nil
	}
	for i, u := range used {
		if u && (i == 0 || !used[i-1]) {
			starts = append(starts, i)
		}
	}
	if len(starts) > 0 {
		starts[0] = 0
	}
	return starts
}

// measure counts the fields of the lines with a separator, and returns the share of lines that have as many as most, at
// least two, and the share of their fields that are numbers.
func (f *Form) measure(s *sample, separator string) (share, numbers float64) {
	s.counts = make([]int, len(s.lines))
	if separator == Fixed {
		f.columns = fixedColumns(s.lines[min(f.skip, len(s.lines)):])
	}
	records := make([][]string, len(s.lines))
	open := false
	for i, line := range s.lines {
		before := open
		if strings.Count(line, `"`)%2 == 1 {
			open = !open
		}
		if i < f.skip || before || open || strings.TrimSpace(line) == "" || f.leftOut(line) {
			continue
		}
		records[i] = splitLine(line, separator, f.columns)
		s.counts[i] = len(records[i])
	}
	s.columns = mode(s.counts)
	same, filled, fields := 0, 0, 0
	for i, n := range s.counts {
		if n == 0 {
			continue
		}
		if filled++; n != s.columns {
			continue
		}
		same++
		for _, field := range records[i] {
			if fields++; lex.Likely(field) || lex.IsMissing(field) && separator != Fixed && separator != Blanks {
				numbers++
			}
		}
	}
	if s.columns < 2 || filled == 0 {
		return 0, 0
	}
	return float64(same) / float64(filled), numbers / float64(max(fields, 1))
}

// mode returns the most frequent of some counts of two and more, the greatest of several; 1 if there is none.
func mode(counts []int) int {
	rows, most := make(map[int]int), 1
	for _, n := range counts {
		if n > 1 {
			rows[n]++
		}
	}
	for n, of := range rows {
		if most == 1 || of > rows[most] || of == rows[most] && n > most {
			most = n
		}
	}
	return most
}

// fields returns the fields of a line as the table has them.
func (f *Form) fields(line string) []string {
	if f.framed {
		line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), f.Separator), f.Separator)
	}
	fields := f.split(line)
	for j := range fields {
		fields[j] = strings.TrimSpace(fields[j])
	}
	return fields
}

// filled counts fields that are not empty.
func filled(fields []string) (n int) {
	for _, field := range fields {
		if field != "" {
			n++
		}
	}
	return n
}

// voteSkip passes over titles and the like at the start: lines with another number of fields, or with a single one.
func (f *Form) voteSkip(s *sample) {
	first, passed := f.skip, 0
	for i := f.skip; i < len(s.lines); i++ {
		n := s.counts[i]
		if n == 0 {
			continue
		}
		fields := f.fields(s.lines[i])
		if n == s.columns && (n < 3 || filled(fields) > 1) || f.heads(s, i, fields) {
			break
		}
		passed++
		first = i + 1
	}
	// Of rows that differ in length nobody knows which are of the table.
	rest := 0
	for _, n := range s.counts[min(first, len(s.counts)):] {
		if n == s.columns {
			rest++
		}
	}
	if passed == 0 || passed > rest {
		return
	}
	f.skip = first
	f.note("%s above the table %s passed over; --table skip=0 takes all lines", format.Counted(passed, "line"),
		map[bool]string{true: "is", false: "are"}[passed == 1])
}

// heads reports whether a line with another number of fields names the columns of the rows below: one less where they
// have names of their own, or where they end in a separator.
func (f *Form) heads(s *sample, at int, fields []string) bool {
	if len(fields) != s.columns-1 && !(len(fields) == s.columns+1 && fields[len(fields)-1] == "") {
		return false
	}
	next := slices.IndexFunc(s.counts[at+1:], func(n int) bool { return n > 0 })
	if next >= 0 && s.counts[at+1+next] == s.columns && filled(fields) > 1 &&
		!slices.ContainsFunc(fields, lex.Likely) &&
		slices.ContainsFunc(f.fields(s.lines[at+1+next])[1:], lex.Likely) {
		return true
	}
	return len(fields) == s.columns-1 && f.trails(s, at+1)
}

// trails reports whether all lines from one on end in an empty field.
func (f *Form) trails(s *sample, from int) bool {
	some := false
	for i := from; i < len(s.lines); i++ {
		if s.counts[i] == s.columns {
			if fields := f.fields(s.lines[i]); fields[len(fields)-1] != "" {
				return false
			}
			some = true
		}
	}
	return some
}

// voteHeader finds out which line names the columns where it is not simply the first one of the table.
func (f *Form) voteHeader(s *sample, o *lex.Options) {
	first := -1
	var rows []int // lines behind it
	for i := f.skip; i < len(s.lines); i++ {
		switch {
		case s.counts[i] == 0:
		case first < 0:
			first = i
		case s.counts[i] == s.columns:
			rows = append(rows, i)
		}
	}
	if first < 0 || len(rows) == 0 || o.Header == "no" {
		return
	}
	names := f.fields(s.lines[first])
	switch {
	case len(names) == s.columns-1 && f.trails(s, first+1):
		f.trailing = true
		f.header, f.names = first, names
		f.note("rows end in a separator, which is passed over")
		return
	case len(names) == s.columns-1 && f.heads(s, first, names):
		f.header, f.names = first, append([]string{""}, names...)
		f.note("the first line has a name less than the rows have fields: they begin with names of their own")
		return
	case names[len(names)-1] == "" && s.columns > 2 && len(names) == s.columns && f.trails(s, first+1):
		f.trailing = true
		f.header, f.names = first, names[:s.columns-1]
		f.note("lines end in a separator, which is passed over")
		return
	case len(names) == s.columns+1 && names[s.columns] == "":
		f.header, f.names = first, names[:s.columns]
		return
	case f.commented(s, first, names):
		return
	}
	if o.Skip == "" {
		f.voteSecond(s, first, rows, names)
	}
}

// commented takes names from the last line of comments before rows of numbers alone, as NumPy writes them.
func (f *Form) commented(s *sample, first int, row []string) bool {
	if f.comment == "" || slices.ContainsFunc(row, func(field string) bool { return !lex.Likely(field) }) {
		return false
	}
	for i := first - 1; i >= f.skip; i-- {
		text := strings.TrimSpace(s.lines[i])
		if text == "" {
			continue
		}
		names := f.fields(strings.TrimSpace(strings.TrimLeft(text, f.comment)))
		if !strings.HasPrefix(text, f.comment) || len(names) != s.columns || slices.ContainsFunc(names, lex.Likely) ||
			filled(names) < len(names) {
			return false
		}
		f.header, f.names = i, names
		f.note("the last line that begins with %s names the columns", f.comment)
		return true
	}
	return false
}

// voteSecond finds a second line of names, or one of units: it has words where all rows have numbers.
func (f *Form) voteSecond(s *sample, first int, rows []int, names []string) {
	if len(rows) < 2 || slices.ContainsFunc(names, lex.Likely) && filled(names) == len(names) {
		return
	}
	second := f.fields(s.lines[rows[0]])
	numeric, words := 0, 0
	for j := range second {
		numbers, others := 0, 0
		for _, i := range rows[1:] {
			switch fields := f.fields(s.lines[i]); {
			case lex.IsMissing(fields[j]) || lex.LooksMissing(fields[j]):
			case lex.Likely(fields[j]):
				numbers++
			default:
				others++
			}
		}
		if others > 0 || numbers == 0 {
			continue
		}
		numeric++
		switch {
		case lex.Likely(second[j]):
			return
		case second[j] != "" && !lex.IsMissing(second[j]) && strings.ContainsFunc(second[j], unicode.IsLetter),
			strings.HasPrefix(second[j], "("), strings.HasPrefix(second[j], "["), second[j] == "%":
			words++
		}
	}
	if numeric == 0 || 2*words < numeric {
		return
	}
	f.header, f.extra = first, rows[0]-first
	unique := make(map[string]bool)
	for _, name := range names {
		unique[name] = true
	}
	if f.names = names; len(unique) == len(names) && !unique[""] {
		f.note("the second line, %s, is passed over: it has words where the rows have numbers; --table skip=%d reads "+
			"it", quoted(s.lines[rows[0]]), f.skip)
		return
	}
	above := ""
	for j, name := range names {
		if name != "" {
			above = name
		}
		f.names[j] = strings.TrimSpace(above + " " + second[j])
	}
	f.note("the first two lines name the columns, as in %q", f.names[len(f.names)-1])
}

// total is how a line of totals begins.
var total = regexp.MustCompile(`(?i)^"?((grand |sub)?total(s|en)?|sum(me|ma)?|average|mean|gesamt|insgesamt|итого)\b`)

// voteEnd passes over notes and totals at the end.
func (f *Form) voteEnd(s *sample, t Text) {
	text := strings.ReplaceAll(string(t.Tail), "\r\n", "\n")
	lines := strings.Split(text, "\n")
	whole := lines[len(lines)-1] == "" // the last line is no torn one
	if whole {
		lines = lines[:len(lines)-1]
	}
	left, last, quotes := 0, len(lines), 0
	stray := len(lines) >= t.Lines-1 && strings.Count(text, `"`)%2 == 1 // of inches: none is open
	for last > 1 && len(lines)-last < maxEnd {
		line := lines[last-1]
		blank := strings.TrimSpace(line) == "" || f.leftOut(line)
		// An odd number of quotes to the end says that the line begins inside one.
		if quotes += strings.Count(line, `"`); quotes%2 == 1 && !stray ||
			!blank && !f.endsTable(s, line, whole) {
			break
		}
		if last--; !blank {
			left = len(lines) - last
		}
	}
	if left == 0 || len(lines)-left < 2 {
		return
	}
	f.end = t.Lines - left
	if whole {
		f.end--
	}
	f.note("%s at the end %s passed over, from %s on; --table skip=%d/0 reads to the end", format.Counted(left, "line"),
		map[bool]string{true: "is", false: "are"}[left == 1], quoted(lines[len(lines)-left]), f.skip)
}

// endsTable reports whether a line at the end is none of the table.
func (f *Form) endsTable(s *sample, line string, whole bool) bool {
	fields := f.fields(line)
	at := slices.IndexFunc(fields, func(field string) bool { return field != "" })
	if at < 0 {
		return true
	}
	if total.MatchString(fields[at]) {
		for i, other := range s.lines {
			if s.counts[i] == s.columns && i > f.skip {
				if row := f.fields(other); other != line && total.MatchString(row[at]) {
					return false
				}
			}
		}
		return true
	}
	few := len(fields) < s.columns || s.columns > 2 && filled(fields) == 1
	_, number := lex.Numerals{}.ParseLoosely(fields[at])
	return few && whole && (filled(fields) == 1 || 2*len(fields) < s.columns) && !number ||
		f.Separator == Blanks && len(fields) != s.columns && !slices.ContainsFunc(fields, lex.Likely)
}
