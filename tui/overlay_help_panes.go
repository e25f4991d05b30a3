package tui

var (
	_ explained = (*lossPane)(nil)
	_ explained = (*accuracyPane)(nil)
	_ explained = (*regionPane)(nil)
	_ explained = (*innerPane)(nil)
	_ explained = (*errorsPane)(nil)
	_ explained = (*topologyPane)(nil)
	_ explained = (*logPane)(nil)
)

func (cv *chartView) ownKeys() [][2]string {
	return [][2]string{
		{"← →", "cursor; with shift by ten, home and end"}, {"[ ]", "zoom x out and in; also the wheel"}, {"< >", "pan; also by dragging"},
		{"0", "all of the run again"}, {"x", "x: epochs, seconds, work"}, {"X", "logarithmic x"}, {"m", "smoothing; the raw curve stays"},
		{"c", "leave out what is far off, and say so"}, {"esc", "hide the cursor, then back"},
	}
}

func (p *regionPane) ownKeys() [][2]string {
	return append([][2]string{{"v", "other curves, where there are more than two"}}, p.chartView.ownKeys()...)
}

func (t *theatre) ownKeys() [][2]string {
	return [][2]string{
		{"← →", "iteration before and after"}, {"↑ ↓", "solve before and after; pgup, pgdown: epochs"}, {"home end", "beginning; the newest again"},
		{"l", "loss along the last step"}, {"v", "another view"},
	}
}

func (p *errorsPane) ownKeys() [][2]string {
	return [][2]string{{"v", "ask again"}, {"r", "training or test rows"}, {"w", "confusions or worst rows"}, {"← →", "output, of regression"}}
}

func (p *topologyPane) ownKeys() [][2]string {
	return [][2]string{{"↑ ↓", "block; n and b while weights are open"}, {"v", "weights of the block"}, {"←↑→↓", "cursor over the weights"}, {"w", "as images, or as a matrix"}}
}
