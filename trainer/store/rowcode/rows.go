package rowcode

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"newtop/internal/jsonscan"
	"newtop/trainer/event"
)

// An epoch's numbers have columns of their own; the other fields of the event are JSON beside them. Neither repeats the
// other, and reading puts both together.

// epochRest is what has no column.
type epochRest struct {
	Inner   []event.InnerSummary  `json:"inner,omitempty"`
	Blocks  []event.BlockNorms    `json:"blocks,omitempty"`
	Figures []event.Metric        `json:"figures,omitempty"`
	Members []event.MemberMetrics `json:"members,omitempty"`
	Gates   []event.GateMetrics   `json:"gates,omitempty"`

	Preconditioner *event.PreconditionerMetrics `json:"preconditioner,omitempty"`
	// Others are the quantities without a column, by their keys.
	Others map[string]event.Float `json:"quantities,omitempty"`
	// Negative names the columns whose zero is −0, a sign that SQLite does not keep.
	Negative []string `json:"negative_zero,omitempty"`
	// Broken are the columns whose number is not finite, which a column can't tell from one that is absent.
	Broken map[string]event.Float `json:"not_finite,omitempty"`
}

// withColumn are the quantities with a column of their own, in its order. The others stand in rest, so that a new one
// needs no new version of the tables.
var withColumn, WithoutColumn = func() (with, without []event.Quantity) {
	for q := range event.QuantityCount {
		if q.Info().Column != "" {
			with = append(with, q)
		} else {
			without = append(without, q)
		}
	}
	return with, without
}()

// Expression is what a quantity's number is in SQL, NULL where it is absent. In rest what is not finite is a text,
// which sorts behind all numbers.
func Expression(q event.Quantity) string {
	if q.Info().Column != "" {
		return q.Info().Column
	}
	return `iif(instr(rest, '"quantities"') AND json_valid(rest),
		json_extract(rest, '$.quantities.` + q.Info().Key + `'), NULL)`
}

// epochColumns are the columns of an epoch that are read, its quantities last.
var epochColumns = func() string {
	text := "epoch, optimizer, accepted, rest"
	for _, q := range withColumn {
		text += ", " + q.Info().Column
	}
	return text
}()

// EpochArgs appends the values of an epoch's columns and returns how many bytes they take, roughly.
func EpochArgs(args []any, e *event.EpochEvent) ([]any, int, error) {
	rest := epochRest{Inner: e.Inner, Blocks: e.Blocks, Figures: e.Metrics, Members: e.Members, Gates: e.Gates,
		Preconditioner: e.Preconditioner}
	for _, q := range withColumn {
		switch v := *q.Of(e); {
		case v == 0 && math.Signbit(float64(v)):
			rest.Negative = append(rest.Negative, q.Info().Column)
		case v.NonFinite():
			if rest.Broken == nil {
				rest.Broken = map[string]event.Float{}
			}
			rest.Broken[q.Info().Column] = v
		}
	}
	for _, q := range WithoutColumn {
		if v := *q.Of(e); !v.Absent() {
			if rest.Others == nil {
				rest.Others = map[string]event.Float{}
			}
			rest.Others[q.Info().Key] = v
		}
	}
	text, err := json.Marshal(&rest)
	if err != nil {
		return nil, 0, err
	}
	args = append(args, e.Epoch, TextOrNull(e.Optimizer), e.Accepted)
	if string(text) == "{}" {
		text = nil
		args = append(args, nil)
	} else {
		args = append(args, string(text))
	}
	for _, q := range withColumn {
		args = append(args, number(*q.Of(e)))
	}
	return args, EpochBytes + len(text), nil
}

// number returns a column's value: null where JSON would have it.
func number(v event.Float) any {
	if known(float64(v)) {
		return float64(v)
	}
	return nil
}

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// TextOrNull returns a text as SQL has it, NULL for an empty one.
func TextOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// EpochsOf are the columns that an epochRow is scanned from, of a table or of the only one.
func EpochsOf(version int, table string) string {
	columns := "seq, " + epochColumns
	if table != "" {
		columns = Prefixed(table, columns)
	}
	return columns + ", " + CRCColumn(version, table)
}

// EpochRow is where a row of epochsOf is scanned to. It may be reused.
type EpochRow struct {
	Seq, CRC  sql.NullInt64
	Epoch     sql.NullInt64 // null: no row, where rows are joined
	optimizer sql.NullString
	accepted  sql.NullBool
	rest      sql.RawBytes
	numbers   [event.QuantityCount]sql.NullFloat64
	to        []any
}

// Dests returns where to scan, after the given ones.
func (r *EpochRow) Dests(before ...any) []any {
	r.to = append(append(r.to[:0], before...), &r.Seq, &r.Epoch, &r.optimizer, &r.accepted, &r.rest)
	for _, q := range withColumn {
		r.to = append(r.to, &r.numbers[q])
	}
	r.to = append(r.to, &r.CRC)
	return r.to
}

// verify compares the row with its checksum; a checksummer of epochs is lent for it.
func (r *EpochRow) verify(s *Checksummer) error {
	if !r.CRC.Valid {
		return nil
	}
	s.reset()
	s.integer(0, r.Seq.Int64)
	s.integer(1, r.Epoch.Int64)
	if r.optimizer.Valid {
		s.value(2, r.optimizer.String)
	}
	s.value(3, r.accepted.Bool)
	if r.rest != nil {
		s.value(4, []byte(r.rest))
	}
	for i, q := range withColumn {
		if n := r.numbers[q]; n.Valid {
			s.number(5+i, n.Float64)
		}
	}
	if s.sum() != r.CRC.Int64 {
		return ErrChecksum
	}
	return nil
}

// Event returns the row's event. A checksummer of epochs is lent for its checksum.
func (r *EpochRow) Event(s *Checksummer) (e event.EpochEvent, err error) {
	if err := r.verify(s); err != nil {
		return e, err
	}
	e = event.EpochEvent{Epoch: int(r.Epoch.Int64), Optimizer: r.optimizer.String, Accepted: r.accepted.Bool}
	for q := range event.QuantityCount {
		v := event.Absent
		if n := r.numbers[q]; n.Valid {
			v = event.Float(n.Float64)
		}
		*q.Of(&e) = v
	}
	if len(r.rest) == 0 {
		return e, nil
	}
	var rest epochRest
	if err := json.Unmarshal(r.rest, &rest); err != nil {
		return e, fmt.Errorf("expected a JSON object in rest: %w", err)
	}
	for _, q := range WithoutColumn {
		if v, ok := rest.Others[q.Info().Key]; ok {
			*q.Of(&e) = v
		}
	}
	e.Inner, e.Blocks, e.Metrics, e.Members, e.Gates = rest.Inner, rest.Blocks, rest.Figures, rest.Members, rest.Gates
	e.Preconditioner = rest.Preconditioner
	set := func(column string, v event.Float) {
		is := func(q event.QuantityInfo) bool { return q.Column == column }
		if i := slices.IndexFunc(event.Quantities[:], is); i >= 0 {
			*event.Quantity(i).Of(&e) = v
		}
	}
	for _, column := range rest.Negative {
		set(column, event.Float(math.Copysign(0, -1)))
	}
	for column, v := range rest.Broken {
		set(column, v)
	}
	return e, nil
}

// MaxSteps bounds the inner iterations of one row.
const MaxSteps = 256

// AppendStep appends an inner iteration to the JSON array of its row.
func AppendStep(text []byte, e *event.InnerEvent) []byte {
	if len(text) == 0 {
		text = append(text, '[')
	} else {
		text[len(text)-1] = ','
	}
	text = fmt.Appendf(text, "[%d", e.Iteration)
	for _, v := range []event.Float{e.Residual, e.StepNorm, e.Radius, e.Curvature, e.Model} {
		if !v.Finite() {
			v = event.Absent
		}
		number, _ := v.MarshalJSON() // which has no errors
		text = append(append(text, ','), number...)
	}
	return append(text, "]]"...)
}

// Together reports whether b can stand in a's row, right after a.
func Together(a, b *event.InnerEvent) bool {
	return a.Epoch == b.Epoch && a.Block == b.Block && a.Member == b.Member
}

// ReadSteps returns the inner iterations of a row.
func ReadSteps(epoch, block, member int, text []byte) ([]event.InnerEvent, error) {
	steps, ok := ScanSteps(text)
	if !ok {
		var err error
		if steps, err = ParseSteps(text); err != nil {
			return nil, err
		}
	}
	out := make([]event.InnerEvent, len(steps))
	for i, s := range steps {
		out[i] = event.InnerEvent{
			Epoch: epoch, Block: block, Member: member, Iteration: int(s[0]),
			Residual: s[1], StepNorm: s[2], Radius: s[3], Curvature: s[4], Model: s[5],
		}
	}
	return out, nil
}

// ScanSteps reads what appendStep writes, which most of a run's bytes are, ten times as fast as encoding/json. It
// reports false for anything else.
func ScanSteps(text []byte) (steps [][6]event.Float, ok bool) {
	if !bytes.HasPrefix(text, []byte("[[")) {
		return nil, false
	}
	text = text[1:]
	for len(steps) < MaxSteps {
		var s [6]event.Float
		for i := range s {
			// A bracket stands before the first number, commas before the others, and a bracket behind the last.
			before, behind := byte(','), byte(',')
			if i == 0 {
				before = '['
			}
			if i == len(s)-1 {
				behind = ']'
			}
			end := bytes.IndexByte(text, behind)
			if i > 0 && end == 0 {
				end = bytes.IndexByte(text[1:], behind) + 1
			}
			if end < 2 || text[0] != before {
				return nil, false
			}
			v, good := scanNumber(text[1:end])
			if !good || i == 0 && !known(float64(v)) {
				return nil, false
			}
			s[i] = v
			text = text[end:]
		}
		steps = append(steps, s)
		switch {
		case len(text) == 2 && text[1] == ']':
			return steps, true
		case len(text) < 3 || text[1] != ',' || text[2] != '[':
			return nil, false
		}
		text = text[2:]
	}
	return nil, false
}

// scanNumber reads a number as JSON has them, or null.
func scanNumber(text []byte) (event.Float, bool) {
	if string(text) == "null" {
		return event.Float(math.NaN()), true
	}
	if n, _ := jsonscan.NumberLength(text); n == 0 || n < len(text) {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(text), 64)
	return event.Float(v), err == nil
}

// ParseSteps reads iterations as encoding/json does.
func ParseSteps(text []byte) ([][6]event.Float, error) {
	var steps [][]event.Float
	if err := json.Unmarshal(text, &steps); err != nil {
		return nil, fmt.Errorf("expected a JSON array of arrays in steps: %w", err)
	}
	if len(steps) > MaxSteps {
		return nil, fmt.Errorf("%d iterations in steps: expected at most %d", len(steps), MaxSteps)
	}
	out := make([][6]event.Float, len(steps))
	for i, s := range steps {
		if len(s) != len(out[i]) {
			return nil, fmt.Errorf("%d numbers in iteration %d of steps: expected %d", len(s), i, len(out[i]))
		}
		if !known(float64(s[0])) {
			return nil, fmt.Errorf("iteration %d of steps has no number: expected one", i)
		}
		copy(out[i][:], s)
	}
	return out, nil
}

// DecodeEvent reads an event that is stored as JSON whole, of the given type unless that is empty.
func DecodeEvent(text []byte, kind string) (event.Event, error) {
	e, err := event.DecodeEvent(text)
	if err != nil {
		return nil, err
	}
	if e != nil && kind != "" && e.EventType() != kind {
		return nil, fmt.Errorf("a %s event: expected %s", e.EventType(), kind)
	}
	return e, nil
}
