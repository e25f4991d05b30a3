// Package blas has the matrix products that newtop's passes are made of, for one thread and in double precision.
package blas
