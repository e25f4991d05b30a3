//go:build race

package storetest

// slowness is how many times fewer trials there are with the race detector.
const slowness = 4
