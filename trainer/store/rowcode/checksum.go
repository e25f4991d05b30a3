package rowcode

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"newtop/trainer/store/sqlfile"
)

// Every row has a checksum of its values, in its column crc, so that a bit that changes on the disk is found; the bytes
// of a checkpoint have their own. The run's number is not in it, which is another in every database: that no row was
// lost or moved is reported by the sum of a run's checksums in its row. A row of before version 3 has null there and is
// taken as it is.

// ChecksumColumns are the columns that a checksum is of, by table.
var ChecksumColumns = map[string]string{
	"runs": "id, name, begun, changed, opening, config, command, version, events, epochs, inner, bytes, first, last, " +
		"best, done, " +
		"generation, host, process, sums, thinned, whole",
	"epochs":      "seq, " + epochColumns,
	"solves":      "seq, epoch, block, member, steps",
	"spectra":     "seq, json",
	"marks":       "seq, json",
	"peaks":       "first, last, extremes",
	"checkpoints": "seq, epoch, fingerprint, size",
	"searches":    "id, name, begun, changed, config, version, phase, data, seconds, spent, rest, sums",
	"trials":      "number, run, state, why, seed, rung, final, choices, figures",
}

// EventTables hold the events of runs.
var EventTables = []string{"epochs", "solves", "spectra", "marks"}

// ErrChecksum says that a row is not what was written.
var ErrChecksum = errors.New("its checksum is another: expected the values that were recorded")

// Checksummer computes the checksums of a table's rows. One goroutine uses it.
type Checksummer struct {
	Names  []string
	buffer []byte
}

// NewChecksummer returns what computes and compares the checksums of a table's rows.
func NewChecksummer(table string) *Checksummer {
	return &Checksummer{Names: strings.Split(ChecksumColumns[table], ", ")}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// reset and value give the checksum its values, those of ChecksumColumns in their order; a null one counts for nothing,
// so that columns of later versions change no checksum of before. sum returns it.
func (s *Checksummer) reset() { s.buffer = s.buffer[:0] }

func (s *Checksummer) sum() int64 { return int64(crc32.Checksum(s.buffer, castagnoli)) }

func (s *Checksummer) number(column int, v float64) {
	if v == 0 {
		v = 0 // SQLite keeps no −0
	}
	s.header(column, 'r')
	s.buffer = binary.LittleEndian.AppendUint64(s.buffer, math.Float64bits(v))
}

func (s *Checksummer) integer(column int, v int64) {
	s.header(column, 'i')
	s.buffer = binary.LittleEndian.AppendUint64(s.buffer, uint64(v))
}

func (s *Checksummer) text(column int, length int) {
	s.header(column, 't')
	s.buffer = binary.LittleEndian.AppendUint64(s.buffer, uint64(length))
}

func (s *Checksummer) header(column int, kind byte) {
	s.buffer = append(append(s.buffer, s.Names[column]...), kind)
}

func (s *Checksummer) value(column int, v any) {
	switch v := v.(type) {
	case nil:
	case int:
		s.integer(column, int64(v))
	case int64:
		s.integer(column, v)
	case bool:
		n := int64(0)
		if v {
			n = 1
		}
		s.integer(column, n)
	case float64:
		s.number(column, v)
	case string:
		s.text(column, len(v))
		s.buffer = append(s.buffer, v...)
	case []byte:
		s.text(column, len(v))
		s.buffer = append(s.buffer, v...)
	default:
		panic(fmt.Sprintf("store: a checksum of %T", v))
	}
}

// Of returns the checksum of a row's values.
func (s *Checksummer) Of(values ...any) int64 {
	s.reset()
	for i, v := range values {
		s.value(i, v)
	}
	return s.sum()
}

// Verify compares a row with its checksum.
func (s *Checksummer) Verify(crc sql.NullInt64, values ...any) error {
	if crc.Valid && s.Of(values...) != crc.Int64 {
		return ErrChecksum
	}
	return nil
}

// WriteSearchChecksums makes a search's row tell what it and its trials are now.
func WriteSearchChecksums(ctx context.Context, conn *sql.Conn, search int64) error {
	_, err := conn.ExecContext(
		ctx, "UPDATE searches SET sums = (SELECT coalesce(sum(crc), 0) FROM trials WHERE search = ?1) "+
			"WHERE search = ?1", search)
	if err != nil {
		return err
	}
	return WriteChecksums(ctx, conn, "searches", "search = ?", search)
}

// WriteChecksums gives the rows of a table for which a condition holds the checksums of what they are now.
func WriteChecksums(ctx context.Context, conn *sql.Conn, table, where string, args ...any) error {
	key := map[string]string{"runs": "run", "searches": "search"}[table]
	type row struct{ key, crc int64 }
	var rows []row
	s := NewChecksummer(table)
	err := sqlfile.EachRow(ctx, conn, "SELECT "+key+", "+ChecksumColumns[table]+" FROM "+table+" WHERE "+where, args,
		func(r *sql.Rows) error {
			var now row
			values := make([]any, len(s.Names))
			if err := r.Scan(DestsOf(values, &now.key)...); err != nil {
				return err
			}
			now.crc = s.Of(values...)
			rows = append(rows, now)
			return nil
		})
	for _, r := range rows {
		if err == nil {
			_, err = conn.ExecContext(ctx, "UPDATE "+table+" SET crc = ? WHERE "+key+" = ?", r.crc, r.key)
		}
	}
	return err
}

// DestsOf returns where to scan values of any kind, after the given ones.
func DestsOf(values []any, before ...any) []any {
	for i := range values {
		before = append(before, &values[i])
	}
	return before
}

// VersionNow returns the version of the tables that a transaction sees: a store that is only read may be an older one.
func VersionNow(ctx context.Context, q sqlfile.Querier) (int, error) {
	version, err := sqlfile.Column[int](ctx, q, "PRAGMA user_version")
	if err != nil || len(version) == 0 {
		return 0, err
	}
	return version[0], nil
}

// Checksums is the version from which on rows have checksums.
const Checksums = 3

// CRCColumn names the column of the checksums, or stands for it where there is none.
func CRCColumn(version int, table string) string {
	switch {
	case version < Checksums:
		return "NULL"
	case table == "":
		return "crc"
	}
	return table + ".crc"
}
