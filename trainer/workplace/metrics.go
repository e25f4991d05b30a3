package workplace

import (
	"newtop/datasets"
	"newtop/models"
	"newtop/trainer/event"
	"newtop/trainer/objective"
	"newtop/trainer/optim"
)

// Unmeasured is the metrics of weights that nobody has evaluated.
var Unmeasured = event.EpochEvent{
	Loss: event.Absent, TestLoss: event.Absent, Error: event.Absent, TestError: event.Absent, RMSE: event.Absent,
	TestRMSE:       event.Absent,
	ValidationLoss: event.Absent, ValidationError: event.Absent, ValidationRMSE: event.Absent,
	GradientNorm: event.Absent, StepNorm: event.Absent, Radius: event.Absent, Rho: event.Absent, Rate: event.Absent,
}

// TrainMetrics fills in how well weights do on the training rows of data.
func TrainMetrics(e *event.EpochEvent, v models.Evaluation, data *datasets.Dataset) {
	e.Loss, e.RMSE, e.Error = measured(v, data)
}

// ValidationMetrics fills in how well weights do on the validation rows of data.
func ValidationMetrics(e *event.EpochEvent, v models.Evaluation, data *datasets.Dataset) {
	e.ValidationLoss, e.ValidationRMSE, e.ValidationError = measured(v, data)
}

// TestMetrics fills in how well weights do on the test rows of data.
func TestMetrics(e *event.EpochEvent, v models.Evaluation, data *datasets.Dataset) {
	e.TestLoss, e.TestRMSE, e.TestError = measured(v, data)
}

// measured returns the loss as it is minimized, the RMSE in the units of the data where the targets have one, and the
// error of classes.
func measured(v models.Evaluation, data *datasets.Dataset) (loss, rmse, errorRate event.Float) {
	unit, _ := data.TargetUnit()
	errorRate = event.Absent
	if data.Classes != nil {
		errorRate = event.ValueOf(v.Error())
	}
	return event.ValueOf(v.Loss), event.ValueOf(v.RMSE() * unit), errorRate
}

// CopyMetrics makes the metrics of one event another's.
func CopyMetrics(to, from *event.EpochEvent) {
	to.Loss, to.Error, to.RMSE = from.Loss, from.Error, from.RMSE
	to.ValidationLoss, to.ValidationError = from.ValidationLoss, from.ValidationError
	to.ValidationRMSE = from.ValidationRMSE
	to.TestLoss, to.TestError, to.TestRMSE = from.TestLoss, from.TestError, from.TestRMSE
}

// ArchiveMetrics carries what later metrics are held against. Those of the validation rows, which earlier versions did
// not know, are there where a run has such rows.
func ArchiveMetrics(k *optim.Archive, e *event.EpochEvent) {
	k.Count("epoch", &e.Epoch, optim.MaxCount)
	type metric struct {
		key   string
		value *event.Float
	}
	list := []metric{
		{"loss", &e.Loss}, {"test loss", &e.TestLoss},
		{"error", &e.Error}, {"test error", &e.TestError},
		{"rmse", &e.RMSE}, {"test rmse", &e.TestRMSE},
	}
	validation := metric{"validation loss", &e.ValidationLoss}
	if k.HasNumber(validation.key) || !k.Restoring() && !e.ValidationLoss.Absent() {
		list = append(list, validation, metric{"validation error", &e.ValidationError},
			metric{"validation rmse", &e.ValidationRMSE})
	}
	for _, f := range list {
		k.Number(f.key, (*float64)(f.value))
	}
}

// WriteWork writes what was spent into an event.
func WriteWork(e *event.EpochEvent, w *objective.Work) {
	e.Gradients, e.Products, e.Losses = event.Float(w.Gradients), event.Float(w.Products), event.Float(w.Losses)
	e.GradientEquivalents = event.Float(w.Equivalents)
}
