// Package blas has the matrix products that newtop's passes are made of, for one thread and in both precisions,
// and gonum's BLAS on top of them.
//
// Sum divides the result c into strips of some vectors, and a strip into tiles, whose elements stay in registers while
// all products of all terms are added:
//
//	    B:  K × 24        a row of B is three vectors, loaded once for a tile
//	A       c:  9 × 24    an element of A is broadcast and multiplied by them
//
// Functions in assembly compute a strip; gen writes them. Rows are shared out evenly among tiles, and the last vector
// of a row is masked, so that nothing outside the slices is read or written. Where A and B are larger than caches,
// other functions go down a block of A with a copied strip of B and fetch what comes next. An element is one chain of
// fused multiply-adds in the order of the terms and of p wherever it lies and whatever is copied on the way: results do
// not depend on how data are divided into blocks, and are the same with AVX2 and AVX-512.
package blas
