//go:build !race

package store

const slowness = 1
