package history

import (
	"math"
	"slices"

	"newtop/trainer/event"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
	"newtop/tui/chart"
)

// methodOf is the method of a status with its settings, nil for one that newtop does not have.
func methodOf(s *event.Status) (*optim.Info, *optim.Settings) {
	info, err := methods.Lookup(s.Optimizer)
	if err != nil {
		return nil, nil
	}
	texts := map[string]string{}
	for _, x := range s.Settings {
		texts[x.Key] = x.Text
	}
	return info, optim.ReadSettings(info.Parameters, texts)
}

// bounds asks the method how long a solve with the current settings may be, and at which residual it ends if that is a
// number.
func bounds(s *event.Status) (limit int, goal float64) {
	if info, set := methodOf(s); info != nil && info.Inner != nil {
		return info.Inner(set)
	}
	return 0, math.NaN()
}

// Part is what the current method has an inner solve for: a block of the rows, or a step where it has no setting for
// blocks.
func (h *History) Part() string {
	known := len(h.Status.Settings) > 0
	blocks := slices.ContainsFunc(h.Status.Settings, func(s event.Setting) bool { return s.Key == "blocks" })
	if info, set := methodOf(&h.Status); info != nil {
		known, blocks = true, set.Has("blocks")
	}
	if known && !blocks {
		return "step"
	}
	return "block"
}

// Plan is the rate that the current method plans for the rest of the run.
type Plan struct {
	info *optim.Info
	set  *optim.Settings

	since, all int // epochs after which the method took over, and that it has; 0: until the run is stopped
}

// Plan returns the plan of the rate; false where the method has no schedule, or the settings do not say.
func (h *History) Plan() (Plan, bool) {
	info, set := methodOf(&h.Status)
	if info == nil || info.Planned == nil || math.IsNaN(set.Get(info.Primary)) {
		return Plan{}, false
	}
	return Plan{info, set, h.since, max(0, h.Status.EpochLimit-h.since)}, true
}

// Rate is what is planned for the end of an epoch.
func (p Plan) Rate(epoch float64) float64 {
	return p.info.Planned(p.set, math.Max(0, epoch-float64(p.since)), p.all)
}

// scheduled returns the rate of the latest epoch where a schedule has moved it away from the setting.
func (h *History) scheduled() (rate float64, ok bool) {
	plan, ok := h.Plan()
	rate = float64(h.Latest.Rate)
	if !ok || h.Latest.Epoch <= h.since || !(rate > 0) || math.IsInf(rate, 1) {
		return 0, false
	}
	return rate, plan.Rate(float64(h.Latest.Epoch)) != plan.set.Get(plan.info.Primary)
}

// edgeAt is the edge of stability of a method with its rate, where that is not its setting.
func edgeAt(info *optim.Info, set *optim.Settings, rate float64) (curvature float64, formula string) {
	set = set.Clone()
	if set.Set(info.Primary, rate) != nil {
		return math.NaN(), ""
	}
	return info.Edge(set)
}

// StabilityEdge is the greatest curvature that the current method is stable at, and its formula; false if it tells
// none. Where a schedule moves the rate, it is that of the latest epoch.
func (h *History) StabilityEdge() (curvature float64, formula string, ok bool) {
	info, set := methodOf(&h.Status)
	if info == nil || info.Edge == nil {
		return 0, "", false
	}
	if rate, ok := h.scheduled(); ok {
		curvature, formula = edgeAt(info, set, rate)
	} else {
		curvature, formula = info.Edge(set)
	}
	return curvature, formula, curvature > 0 && !math.IsInf(curvature, 0)
}

// StabilityEdges is that edge over the epochs of the current method, nil where no schedule moves it.
func (h *History) StabilityEdges() *chart.Series {
	info, set := methodOf(&h.Status)
	if _, ok := h.scheduled(); !ok || info.Edge == nil {
		return nil
	}
	s := &chart.Series{}
	for _, b := range h.Curves.Rate.Buckets {
		if b.X1[chart.Epochs] < float64(h.since)+1 {
			continue
		}
		if edge, _ := edgeAt(info, set, b.Last); edge > 0 && !math.IsInf(edge, 0) {
			s.Append(b.X1, edge)
		}
	}
	return s
}
