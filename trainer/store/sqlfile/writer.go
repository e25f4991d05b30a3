package sqlfile

import (
	"context"
	"database/sql"
	"fmt"
)

// FreeName returns the name, with a number behind it where a row of the table has it.
func FreeName(ctx context.Context, conn *sql.Conn, table, name string) (string, error) {
	for i, try := 2, name; ; i++ {
		var isTaken bool
		err := conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM main."+table+" WHERE name = ?)", try).Scan(
			&isTaken)
		if err != nil || !isTaken {
			return try, err
		}
		try = fmt.Sprintf("%s-%d", name, i)
	}
}
