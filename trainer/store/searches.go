package store

import (
	"context"
	"database/sql"
)

// HasSearches reports whether there are tables of searches: not in a file of version 1 that is only read.
func HasSearches(ctx context.Context, tx *sql.Tx) (there bool, err error) {
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'trials')").Scan(&there)
	return there, err
}
