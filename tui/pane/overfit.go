package pane

import (
	"math"
	"sort"

	"newtop/internal/format"
	"newtop/tui/chart"
)

// overfits reports the epoch since which the test loss rises while the training loss falls. Both are means over a twentieth of
// the epochs. It takes that the test loss had its minimum at least a tenth of the epochs ago, and five; that it has risen by
// a twentieth of it since; and that the training loss is less than it was then. The epoch is that of the least mean, or of the
// least test loss, which legends tell, if it came later and not among the newest.
func overfits(train, test *chart.Series) (since int, ok bool) {
	const window, well, fewest, rise = 1.0 / 20, 1.0 / 10, 5, 1.0 / 20
	first, last, ok := test.Ends()
	if !ok || last-first < 2*fewest {
		return 0, false
	}
	half := max(1, (last-first)*window/2)
	tested, trained := means(test.Buckets, half), means(train.Buckets, half)
	if len(tested) == 0 || len(trained) == 0 {
		return 0, false
	}
	least := tested[0]
	for _, p := range tested {
		if p.y <= least.y {
			least = p
		}
	}
	end := tested[len(tested)-1]
	rose := end.y-least.y > rise*math.Abs(least.y)
	fell := trained[len(trained)-1].y < at(trained, least.x).y
	enough := max(fewest, well*(last-first))
	if !rose || !fell || end.x-least.x < enough {
		return 0, false
	}
	if x, _ := test.Least(); end.x-x >= enough {
		return int(max(x, least.x)), true
	}
	return int(least.x), true
}

// mean is that of the values around an epoch.
type mean struct{ x, y float64 }

// means returns the mean of the values up to so many epochs before and after each.
func means(b []chart.Bucket, half float64) (out []mean) {
	from, to, sum, n := 0, 0, 0.0, 0
	for i := range b {
		x := b[i].X1[chart.Epochs]
		for ; to < len(b) && b[to].X1[chart.Epochs] <= x+half; to++ {
			sum, n = sum+b[to].Sum, n+int(b[to].N)
		}
		for ; b[from].X1[chart.Epochs] < x-half; from++ {
			sum, n = sum-b[from].Sum, n-int(b[from].N)
		}
		if b[i].N > 0 && n > 0 {
			out = append(out, mean{x, sum / float64(n)})
		}
	}
	return out
}

// at returns the mean at an epoch, or the next there is.
func at(list []mean, x float64) mean {
	return list[min(sort.Search(len(list), func(i int) bool { return list[i].x >= x }), len(list)-1)]
}

// overfitWords say it, ever shorter; nil where the test loss does not rise.
func overfitWords(train, test *chart.Series) []string {
	since, ok := overfits(train, test)
	if !ok {
		return nil
	}
	epoch := format.Count(since)
	return []string{"test loss rises since epoch " + epoch, "test loss rises since " + epoch}
}
