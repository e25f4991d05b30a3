package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// notes is the version from which on a run has a note and tags.
const notes = 4

// Bounds of what a user says of a run, in bytes.
const (
	MaxNote = 2000
	maxTag  = 40
	maxTags = 16
)

// NoteError says why a run can't have a note or a tag.
type NoteError struct{ What, Found, Expected string }

func (e *NoteError) Error() string {
	return fmt.Sprintf("%s %q: expected %s", e.What, e.Found, e.Expected)
}

// Annotate replaces what the user says of a run, which changes nothing that was recorded. It returns a *NoteError for
// what is no line of text or no words.
func (s *Store) Annotate(ctx context.Context, id, note string, tags []string) error {
	if len(note) > MaxNote || strings.IndexFunc(note, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0 {
		return &NoteError{"note", note, fmt.Sprintf("one line of at most %d printable bytes", MaxNote)}
	}
	if len(tags) > maxTags {
		return &NoteError{"tags", strings.Join(tags, " "), fmt.Sprintf("at most %d words", maxTags)}
	}
	for _, t := range tags {
		if t == "" || len(t) > maxTag || strings.IndexFunc(t,
			func(r rune) bool { return r == ' ' || !strconv.IsPrint(r) }) >= 0 {
			return &NoteError{"tag", t, fmt.Sprintf("one word of at most %d printable bytes", maxTag)}
		}
	}
	return s.ChangeRetrying(ctx, func(ctx context.Context, conn *sql.Conn) error {
		done, err := conn.ExecContext(ctx, "UPDATE runs SET note = ?, tags = ? WHERE id = ?", rowcode.TextOrNull(note),
			rowcode.TextOrNull(strings.Join(tags, " ")), id)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if err == nil && n == 0 {
			err = &sqlfile.NotFoundError{Name: id}
		}
		return err
	})
}
