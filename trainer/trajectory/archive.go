package trajectory

import (
	"newtop/trainer/checkpoint"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
	"newtop/trainer/optim/methods"
)

// What a checkpoint has of the nets. The order of the functions is the checkpointer's.

// sinceKey is the number of a checkpoint that says how long its method has been at work.
const sinceKey = "method since"

// ArchiveMethod carries which method trains how many nets.
func ArchiveMethod(t *Trajectory, k *optim.Archive) {
	name, nets := t.Info.Name, len(t.Members)
	k.Text("optimizer", &name)
	if !k.Restoring() || k.HasNumber(sinceKey) { // which earlier versions did not know
		k.Count(sinceKey, &t.Since, optim.MaxCount)
	}
	k.Count("nets", &nets, checkpoint.MaxCommittee)
	if !k.Restoring() || k.Err() != nil {
		return
	}
	info, err := methods.Lookup(name)
	if err == nil {
		err = t.Offers(info)
	}
	switch {
	case err != nil:
		k.Fail("optimizer", "%v", err)
		return
	case nets != len(t.Members):
		k.Fail("nets", "%d: expected %d", nets, len(t.Members))
		return
	}
	t.Info = info
	for _, m := range t.Members {
		m.Method, m.Settings = info.New(), optim.NewSettings(info.Parameters)
		m.State.Settings = m.Settings
	}
}

// ArchiveMembers carries the nets, what the objective keeps, and last, since what is computed again has been charged,
// what was spent.
func ArchiveMembers(t *Trajectory, k *optim.Archive) {
	for i, m := range t.Members {
		k := k.In(checkpoint.NetKey(i))
		m.archive(k)
		t.FixGates(m)
		if k.Err() == nil {
			k.In("method").Method(m.Method, m.State)
		}
	}
	if !t.Work.Config.FoldCommittee() {
		archiveCache(k.In("objective"), t.Members[0])
	} else {
		for i, m := range t.Members {
			archiveCache(k.In(checkpoint.NetKey(i)).In("objective"), m)
		}
	}
	k.In("spent").State(t.Objective.Spent, nil)
}

// archiveCache carries what the objective of a member keeps.
func archiveCache(cached *optim.Archive, m *Member) {
	var cache objective.Cache
	if !cached.Restoring() {
		cache.SaveAll(m.Binding.Objective)
	}
	cached.State(&cache, m.Weights)
	if cached.Restoring() && cached.Err() == nil {
		if err := cache.LoadAll(m.Binding.Objective); err != nil {
			cached.Fail("parts", "%v", err)
		}
	}
}

// ArchiveBest carries the weights of the best epoch.
func ArchiveBest(t *Trajectory, k *optim.Archive) {
	if !t.Work.KeepsBest() {
		return
	}
	archiveScore(t, k)
	best := t.BestWeights
	if k.Restoring() {
		best = make([][]float64, len(t.Members))
	}
	for i := range best {
		k.In(checkpoint.NetKey(i)).Vector(bestKey, &best[i], t.Work.Problem.Dim())
	}
	t.BestWeights = best
}

// ScaleRMSE makes RMSEs in standard deviations of the targets, as checkpoints of before have them, what measured
// returns.
func ScaleRMSE(t *Trajectory) {
	unit, _ := t.Work.Problem.Data.TargetUnit()
	all := []*event.EpochEvent{&t.First, &t.Last, &t.Best}
	for _, m := range t.Members {
		all = append(all, &m.Metrics)
	}
	for _, e := range all {
		e.RMSE, e.TestRMSE = e.RMSE.Times(unit), e.TestRMSE.Times(unit)
	}
}
