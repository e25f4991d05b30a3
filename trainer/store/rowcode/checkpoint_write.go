package rowcode

import "newtop/trainer/event"

// Checkpoints are written in parts, each in a transaction of its own with whatever events have come: a large one holds
// neither them nor other processes up for longer than a part takes. Its row in checkpoints comes with the last part.

// CheckpointsOfRun is how many checkpoints of a run stay.
const CheckpointsOfRun = 2

// Recount sets what a run's row tells of its other rows; ?1 is the run.
func Recount(m event.Measure) string {
	return `sums = (SELECT sum(s) FROM (SELECT coalesce(sum(crc), 0) AS s FROM epochs WHERE run = ?1
			UNION ALL SELECT coalesce(sum(crc), 0) FROM solves WHERE run = ?1
			UNION ALL SELECT coalesce(sum(crc), 0) FROM spectra WHERE run = ?1
			UNION ALL SELECT coalesce(sum(crc), 0) FROM marks WHERE run = ?1)),
		epochs = (SELECT count(*) FROM epochs WHERE run = ?1) + thinned,
		inner = (SELECT coalesce(sum(iif(json_valid(steps), json_array_length(steps), 0)), 0)
			FROM solves WHERE run = ?1),
		first = (SELECT min(seq) FROM epochs WHERE run = ?1), last = (SELECT max(seq) FROM epochs WHERE run = ?1),
		best = (SELECT seq FROM epochs WHERE run = ?1 ORDER BY ` + BestFirst(m) + `seq LIMIT 1)`
}

// BestFirst puts epochs in the order of a measure, the best first.
func BestFirst(m event.Measure) (order string) {
	for _, q := range m.Order() {
		order += Expression(q) + ` IS NULL, ` + Expression(q) + `, `
	}
	return order
}
