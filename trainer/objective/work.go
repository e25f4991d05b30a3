package objective

// Work counts what has been spent. Equivalents charges every pass by its counted multiplications, in units of one
// gradient over all training rows.
type Work struct {
	Gradients   float64 `archive:"gradients"`
	Products    float64 `archive:"products"`
	Losses      float64 `archive:"losses"`
	Equivalents float64 `archive:"equivalents"`
}

// Add adds more of it.
func (w *Work) Add(more *Work) {
	w.Gradients += more.Gradients
	w.Products += more.Products
	w.Losses += more.Losses
	w.Equivalents += more.Equivalents
}

// addGradients charges gradients over a share of all training rows.
func (w *Work) addGradients(share float64) {
	w.Gradients += share
	w.Equivalents += share
}
