package trainer

import (
	"slices"

	"newtop/models"
	"newtop/trainer/optim"
	"newtop/trainer/optim/trust"
)

// recall is what an objective remembers of the last weights it was asked for. Racers share one objective in turn;
// with this each finds it as it left it, so that it is charged what it would be if it had the objective to itself.
type recall struct {
	at, figured                   []float64
	linear, known, current, asked bool
	figures                       models.Evaluation
	parts                         []recall
}

// recallTo stores what the objective remembers in k, and what its parts do if there are that many; 1: none.
func (o *objective) recallTo(k *recall, blocks int) {
	k.at, k.figured = append(k.at[:0], o.at...), append(k.figured[:0], o.figured...)
	k.linear, k.known = o.linear, o.known
	k.current, k.asked = o.kept.Current(), o.kept.Asked()
	k.figures = o.figures
	if blocks == 1 || blocks != len(o.parts) {
		k.parts = nil
		return
	}
	k.parts = slices.Grow(k.parts[:0], blocks)[:blocks]
	for i, part := range o.parts {
		part.(*objective).recallTo(&k.parts[i], 1)
	}
}

// restore makes the objective, and so many parts of it, remember k, and charges nothing. A linearization at other
// weights than w, from which no method goes on, is forgotten.
func (o *objective) restore(k *recall, w []float64, blocks int) {
	copy(o.figured, k.figured)
	o.figures, o.known = k.figures, k.known
	wanted := k.linear && slices.Equal(k.at, w)
	if wanted && !(o.linear && slices.Equal(o.at, w) && o.kept.Current() == k.current) {
		o.kept.Expect(k.current)
		o.kept.Update(w)
		copy(o.at, w)
	}
	o.linear = wanted
	o.kept.Expect(k.asked)
	switch {
	case blocks == 1: // those there are belong to others
	case len(k.parts) == 0:
		o.parts = nil
	default:
		for i, part := range o.Blocks(blocks) {
			part.(*objective).restore(&k.parts[i], w, 1)
		}
	}
}

// blocks returns how many parts of the rows a method with these settings goes through.
func (o *objective) blocks(s *optim.Settings) int {
	if !trust.Blocks.In(s) {
		return 1
	}
	return min(trust.Blocks.Of(s), o.Rows())
}
