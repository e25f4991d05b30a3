package upkeep

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"newtop/trainer/store"
	"newtop/trainer/store/sqlfile"
)

// Children are the tables with rows of runs.
var Children = []string{"epochs", "solves", "spectra", "marks", "peaks", "checkpoints", "parts"}

// later are the columns that a source of an earlier version does not have.
var later = []string{"crc", "sums", "thinned", "whole", "note", "tags"}

// copier copies rows into a database on one connection, to which the source is attached as src.
type copier struct {
	source  *store.Store
	insert  string // the verb: with OR IGNORE, rows that contradict others are left out
	db      *sql.DB
	conn    *sql.Conn
	columns map[string][]string // of each table that the source has, those that both have
	missing string              // the first column that the source should have and has not, with its table
}

// newCopier attaches a source to a new connection to the database at path.
func newCopier(ctx context.Context, path string, source *store.Store, insert string) (c *copier, err error) {
	c = &copier{source: source, insert: insert, columns: map[string][]string{}}
	if c.db, err = sqlfile.OpenDB(path, "rw", sqlfile.ReadPatience); err != nil {
		return nil, err
	}
	if c.conn, err = sqlfile.Connect(ctx, c.db); err == nil {
		err = c.attach(ctx)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Close closes the connection.
func (c *copier) Close() {
	if c.conn != nil {
		c.conn.Close()
	}
	c.db.Close()
}

func (c *copier) attach(ctx context.Context) error {
	query := url.Values{"mode": {"ro"}} // as Open did
	if c.source.Immutable {
		query.Set("immutable", "1")
	}
	if _, err := c.conn.ExecContext(ctx, "ATTACH ? AS src", sqlfile.FileURI(c.source.Path(), query)); err != nil {
		return c.source.Wrap(ctx, err)
	}
	const columnsOf = "SELECT name FROM pragma_table_info(?, ?) ORDER BY cid"
	for _, table := range append([]string{"runs", "searches", "trials"}, Children...) {
		here, err := sqlfile.Texts(ctx, c.conn, columnsOf, table, "main")
		if err != nil {
			return err
		}
		there, err := sqlfile.Texts(ctx, c.conn, columnsOf, table, "src")
		if err != nil {
			return err
		}
		if len(there) == 0 && (table == "searches" || table == "trials") {
			continue // of a version that had none
		}
		for _, name := range here {
			if slices.Contains(there, name) {
				c.columns[table] = append(c.columns[table], name)
			} else if !slices.Contains(later, name) {
				c.missing = cmp.Or(c.missing, fmt.Sprintf("%s in its table %s", name, table))
			}
		}
	}
	return nil
}

// rows copies the rows of a table for which a condition holds. Some columns get a value of their own, in SQL.
func (c *copier) rows(ctx context.Context, table string, values map[string]string, where string,
	args ...any) (sql.Result, error) {
	var from []string
	for _, name := range c.columns[table] {
		from = append(from, cmp.Or(values[name], name))
	}
	text := fmt.Sprintf("%s INTO main.%s (%s) SELECT %s FROM src.%[2]s WHERE %[5]s", c.insert, table,
		strings.Join(c.columns[table], ", "), strings.Join(from, ", "), where)
	return c.conn.ExecContext(ctx, text, args...)
}
