package csv

// Options says how a table is read and what becomes of its columns. The zero value is what suits most tables.
type Options struct {
	Header    string   // whether the first row names the columns: yes or no; empty: as it looks
	Missing   string   // what stands in for missing values: indicator, mean, median, or drop the row; empty: indicator
	Decimal   string   // what parts decimals, a point or a comma; empty: a point
	Thousands string   // what parts thousands; empty: nothing
	Drop      []string // columns to leave out, by name or number from 1
	Keep      []string // columns not to leave out, whatever they look like
}
