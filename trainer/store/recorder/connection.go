package recorder

import (
	"context"
	"database/sql"
	"strings"

	"newtop/trainer/store"
	"newtop/trainer/store/rowcode"
	"newtop/trainer/store/sqlfile"
)

// connection is the writer's own connection to the database, with its statements. It is opened again after a failure.
type connection struct {
	store      *store.Store
	db         *sql.DB // nil while closed
	conn       *sql.Conn
	prepared   map[string]*sql.Stmt
	insertions map[string]insertion
}

// connect opens the database where it is not open, and makes sure that its file is where it was.
func (c *connection) connect(ctx context.Context) (err error) {
	if err := c.store.CheckSame(); err != nil || c.conn != nil {
		return err
	}
	if c.db == nil {
		if c.db, err = sqlfile.OpenDB(c.store.Path(), "rw", sqlfile.WritePatience); err != nil {
			return err
		}
	}
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return err
	}
	c.conn, c.prepared = conn, map[string]*sql.Stmt{}
	return nil
}

// disconnect makes the next attempt begin with a fresh connection.
func (c *connection) disconnect() {
	for _, s := range c.prepared {
		s.Close()
	}
	c.prepared = nil
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
	if c.db != nil {
		c.db.Close()
		c.db = nil
	}
}

// statement returns a prepared statement.
func (c *connection) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if s := c.prepared[text]; s != nil {
		return s, nil
	}
	s, err := c.conn.PrepareContext(ctx, text)
	if err == nil {
		c.prepared[text] = s
	}
	return s, err
}

// exec executes a statement, which is prepared once.
func (c *connection) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	s, err := c.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

// insertion is how rows of a table of runs are written: run, what a checksum is of, and the checksum.
type insertion struct {
	text     string
	checksum *rowcode.Checksummer
}

func newInsertion(table string) insertion {
	s := rowcode.NewChecksummer(table)
	return insertion{"INSERT INTO " + table + " (run, " + rowcode.ChecksumColumns[table] + ", crc) VALUES (?" +
		strings.Repeat(", ?", len(s.Names)+1) + ")", s}
}

// insert writes a row of a table, its run first, and returns its checksum.
func (c *connection) insert(ctx context.Context, table string, args []any) (crc int64, err error) {
	i, ok := c.insertions[table]
	if !ok {
		i = newInsertion(table)
		if c.insertions == nil {
			c.insertions = map[string]insertion{}
		}
		c.insertions[table] = i
	}
	crc = i.checksum.Of(args[1:]...)
	_, err = c.exec(ctx, i.text, append(args, crc)...)
	return crc, err
}
