package alert

import (
	"math"
	"slices"
	"sort"
)

// Bin stands for one or more neighbouring points of a curve: the epoch of the last, the sum of their finite values, and
// how many these are.
type Bin struct {
	X, Sum float64
	N      int
}

// Curve is what the rules read of a quantity over the epochs.
type Curve struct {
	First float64 // the epoch of the first point
	Min   float64 // the epoch of the least value
	Bins  []Bin   // in the order of the epochs
}

// maxBins bounds a curve's memory: a bin is a sixty-fourth of the run at most, which is a third of what means are over.
const maxBins = 128

// curve remembers a quantity of a run of any length. When it is full, neighbours are merged in pairs.
type curve struct {
	Curve
	each, filled int     // points of a full bin, and of the last
	min          float64 // the least value
}

// add appends a finite value. Epochs do not fall.
func (c *curve) add(x, y float64) {
	n := len(c.Bins)
	if n == 0 {
		c.First, c.Min, c.min, c.each = x, x, y, 1
	} else {
		x = max(x, c.Bins[n-1].X)
	}
	if y < c.min {
		c.Min, c.min = x, y
	}
	if n > 0 && c.filled < c.each {
		c.filled++
		c.Bins[n-1] = Bin{x, c.Bins[n-1].Sum + y, c.Bins[n-1].N + 1}
		return
	}
	if n == maxBins {
		n /= 2
		for i := range n {
			a, b := c.Bins[2*i], c.Bins[2*i+1]
			c.Bins[i] = Bin{b.X, a.Sum + b.Sum, a.N + b.N}
		}
		c.Bins = c.Bins[:n]
		c.each *= 2
	}
	c.Bins = append(c.Bins, Bin{x, y, 1})
	c.filled = 1
}

// window is the part of a run that a mean is over.
const window = 1.0 / 20

// ends returns the last epoch of a curve and how far its values are apart on average; false if there are fewer than
// two.
func (c *Curve) ends() (last, apart float64, ok bool) {
	n := 0
	for i := range c.Bins {
		n += c.Bins[i].N
	}
	if n < 2 {
		return 0, 0, false
	}
	last = c.Bins[len(c.Bins)-1].X
	return last, (last - c.First) / float64(n-1), true
}

// scatter is the standard deviation of single values about their trend: by how far a bin's mean lies from the middle of
// its neighbours', √(3/2) of it for bins of one value, of which the median is taken: 0.6745 of a normal deviation,
// whatever a few outliers do. It is of the newer half, as a run falls steeply at first, and of some hundred bins at
// most.
func (c *Curve) scatter() float64 {
	const most, normal = 100, 0.6745
	sizes := make([]float64, 0, 2*most)
	half := len(c.Bins) / 2
	for i := half + 1; i < len(c.Bins)-1; i += 1 + half/most {
		a, b, d := c.Bins[i-1], c.Bins[i], c.Bins[i+1]
		if a.N > 0 && b.N > 0 && d.N > 0 {
			na, nb, nd := float64(a.N), float64(b.N), float64(d.N)
			off := b.Sum/nb - (a.Sum/na+d.Sum/nd)/2
			sizes = append(sizes, math.Abs(off)/math.Sqrt(1/nb+(1/na+1/nd)/4))
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2] / normal
}

// uncertain is the standard deviation of the newest mean, which has values of one side only.
func (c *Curve) uncertain(last, half float64) float64 {
	return c.scatter() / math.Sqrt(float64(max(1, c.after(last-half))))
}

// after returns how many values come after an epoch.
func (c *Curve) after(x float64) (n int) {
	for i := len(c.Bins) - 1; i >= 0 && c.Bins[i].X > x; i-- {
		n += c.Bins[i].N
	}
	return n
}

// mean is that of the values around an epoch.
type mean struct{ x, y float64 }

// means returns the mean of the values up to that many epochs before and after each bin.
func (c *Curve) means(half float64) []mean {
	out := make([]mean, 0, len(c.Bins))
	from, to, sum, n := 0, 0, 0.0, 0
	for i := range c.Bins {
		x := c.Bins[i].X
		for ; to < len(c.Bins) && c.Bins[to].X <= x+half; to++ {
			sum, n = sum+c.Bins[to].Sum, n+c.Bins[to].N
		}
		for ; c.Bins[from].X < x-half; from++ {
			sum, n = sum-c.Bins[from].Sum, n-c.Bins[from].N
		}
		if c.Bins[i].N > 0 && n > 0 {
			out = append(out, mean{x, sum / float64(n)})
		}
	}
	return out
}

// at returns the mean at an epoch, or the next there is.
func at(list []mean, x float64) mean {
	return list[min(sort.Search(len(list), func(i int) bool { return list[i].x >= x }), len(list)-1)]
}

// lowestMean returns the newest of the least means.
func lowestMean(list []mean) mean {
	best := list[0]
	for _, p := range list {
		if p.y <= best.y {
			best = p
		}
	}
	return best
}

// Overfit is a test loss that rises.
type Overfit struct {
	Since int     // the epoch of its minimum
	Rise  float64 // by how much of its least mean it has risen since
	Sure  float64 // the rise in standard deviations of the newest mean
}

// How far a test loss has to rise before it is reported, and below which rise it is reported again.
const (
	risen     = 1.0 / 20
	recovered = risen / 2
)

// Overfits reports the epoch since which the test loss rises while the training loss falls. Both are means over a
// twentieth of the epochs, and over two values at least. It takes that the test loss had its minimum at least a tenth
// of the epochs ago, and five values; that it has risen since by a twentieth of it, and by three standard deviations of
// the newest mean; and that the training loss is less than it was then. The epoch is that of the least mean, or of the
// least test loss, which legends tell, if it came later and not among the newest. The rise is reported in any case.
func Overfits(train, test *Curve) (o Overfit, ok bool) {
	const well, fewest, sure = 1.0 / 10, 5, 3
	last, apart, ok := test.ends()
	if !ok || last-test.First < 2*fewest {
		return o, false
	}
	half := max(apart, (last-test.First)*window/2)
	tested, trained := test.means(half), train.means(half)
	if len(tested) == 0 || len(trained) == 0 {
		return o, false
	}
	best, end := lowestMean(tested), tested[len(tested)-1]
	o = Overfit{int(best.x), (end.y - best.y) / math.Abs(best.y), (end.y - best.y) / test.uncertain(last, half)}
	enough := max(fewest*apart, well*(last-test.First))
	if end.x-test.Min >= enough {
		o.Since = int(max(test.Min, best.x))
	}
	improved := trained[len(trained)-1].y < at(trained, best.x).y
	rose := o.Rise > risen && o.Sure > sure
	return o, rose && improved && end.x-best.x >= enough && test.after(best.x) >= fewest
}

// plateau says how a quantity, less of which is better, does of late.
type plateau struct {
	since  float64 // the epoch of its least mean before
	flat   bool    // it has not improved since
	better bool    // it has, and noise can't be why
}

// plateaued is flat where for a fifth of the run, and for twenty values at least, the least mean is not less by a
// thousandth than the least before. The run is as long as it will be, where that is known. Means, over a twentieth of
// what there is, are what noise does not improve: the least of single values would be a lucky one. It is better, so
// that the next plateau is reported, where the gain is three standard deviations of the newest mean, too.
func plateaued(c *Curve, epochs float64) (p plateau) {
	const fewest, part, gain, sure = 20, 1.0 / 5, 1e-3, 3
	last, apart, ok := c.ends()
	if !ok {
		return p
	}
	span, half := max(fewest*apart, part*max(epochs, last-c.First)), max(apart, (last-c.First)*window/2)
	list := c.means(half)
	split := sort.Search(len(list), func(i int) bool { return list[i].x > last-span })
	if split == 0 || split == len(list) || c.after(last-span) < fewest {
		return p
	}
	before, lowest := lowestMean(list[:split]), lowestMean(list[split:])
	gained, enough := before.y-lowest.y, gain*math.Abs(before.y)
	return plateau{before.x, gained <= enough, gained > max(enough, sure*c.uncertain(last, half))}
}
