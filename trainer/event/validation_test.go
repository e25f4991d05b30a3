package event

import "testing"

// TestEventsOfBefore: what a version wrote that knew no validation rows has no such figures, wherever they would stand.
func TestEventsOfBefore(t *testing.T) {
	for _, read := range []func([]byte) (Event, error){DecodeEvent, DecodeForeign} {
		e, err := read([]byte(`{"type":"epoch","epoch":3,"loss":0.5,"test_loss":0.6,"members":[{"seed":1,"loss":0.4,"test_error":0.1}]}`))
		if err != nil {
			t.Fatal(err)
		}
		epoch := e.(EpochEvent)
		for _, f := range []Float{epoch.ValidationLoss, epoch.ValidationError, epoch.ValidationRMSE,
			epoch.Members[0].ValidationLoss, epoch.Members[0].ValidationError, epoch.Members[0].ValidationRMSE} {
			if !f.Absent() {
				t.Errorf("an epoch tells a validation figure of %v", f)
			}
		}
		if epoch.Members[0].TestError != 0.1 || epoch.Members[0].Seed != 1 {
			t.Errorf("members %+v", epoch.Members)
		}
		e, err = read([]byte(`{"type":"done","reason":"epochs","best_epoch":2}`))
		if done, ok := e.(DoneEvent); err != nil || !ok || !done.ValidationLoss.Absent() || !done.ValidationError.Absent() || !done.ValidationRMSE.Absent() {
			t.Errorf("%+v: %v", e, err)
		}
		e, err = read([]byte(`{"type":"lap","racer":1,"lap":{"epoch":1,"loss":0.5}}`))
		if lap, ok := e.(LapEvent); err != nil || !ok || !lap.Lap.ValidationLoss.Absent() || lap.Lap.Loss != 0.5 {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

// TestMeasureByValidationRows: they decide where there are any, and of equal errors the lower loss.
func TestMeasureByValidationRows(t *testing.T) {
	own := func(classes int) *RunEvent {
		return &RunEvent{Data: DataInfo{Classes: classes, TestRows: 5, ValidationRows: 4}, Model: ModelInfo{Layers: []int{2, 1}}}
	}
	epochs := []EpochEvent{
		{Epoch: 0, ValidationError: 0.5, ValidationLoss: 0.1, TestError: 0, ValidationRMSE: 1},
		{Epoch: 1, ValidationError: 0.25, ValidationLoss: 0.9, TestError: 0.5, ValidationRMSE: 2},
		{Epoch: 2, ValidationError: 0.25, ValidationLoss: 0.8, TestError: 0.5, ValidationRMSE: 0.5},
		{Epoch: 3, ValidationError: 0.25, ValidationLoss: 0.8, TestError: 0.1, ValidationRMSE: 0.5},
	}
	for classes, want := range map[int]Quantity{3: ValidationError, 0: ValidationRMSE} {
		m := own(classes).Measure()
		if m.Quantity != want || m.Best(epochs).Epoch != 2 {
			t.Errorf("by %s the best is %d", m.Info().Name, m.Best(epochs).Epoch)
		}
		if m.Train().Validation() != want || m.Test().Validation() != want || m.Train() == m.Test() || GradientNorm.Test() != GradientNorm {
			t.Errorf("%s is %s and %s", want.Info().Name, m.Train().Info().Name, m.Test().Info().Name)
		}
	}
}
