//go:build race

package store

// slowness is how many times fewer trials there are with the race detector.
const slowness = 4
