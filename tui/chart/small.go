package chart

// DressSmall gives what the user has set to one of many small plots, whose titles tell the values at the cursor.
func (cv *Controls) DressSmall(p *Plot) {
	cv.set(p)
	p.Detail, p.Told = cv.Zoomed(), true
}

// Look is what the user has set, to tell pictures apart.
type Look struct {
	by             Axis
	logX, outliers bool
	half           float64
	window         [2]float64
	on             bool
	cursor         Position
}

// Look returns what is set now.
func (cv *Controls) Look() Look {
	return Look{cv.By, cv.LogX, cv.outliers, cv.Half, cv.Window, cv.On, cv.Cursor}
}
