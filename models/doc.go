// Package models computes with feed-forward networks: outputs, losses, gradients, exact products with
// the Hessian and the Gauss–Newton matrix, the latter's diagonal, and the latter itself where it is small.
// Layers may take from any earlier layers, from all of their nodes or from some; every layer has one
// activation, elementwise or softmax. The last layer may be a mixture of experts.
//
// Notation, after Møller 1993 ([M]) and Mizutani & Demmel 2003 ([MD]):
//
//	P, p     rows of data, one row; E = (1/P) Σ_p E_p is the mean loss
//	L, l, r  layers 0…L (0 = inputs), a layer, one of its sources (r < l); layer l has N_l nodes
//	W^{lr}   weights from layer r to layer l, N_l × N_r; b^l biases, N_l
//	v^l, u^l net input Σ_r W^{lr} u^r + b^l and output f_l(v^l) of layer l; t targets
//	δ^l, ε^l ∂E_p/∂v^l and ∂E_p/∂u^l
//	d, D, φ  a direction in weight space, its blocks, and the derivative of v^l along it
//	Ru, γ    the derivatives of u^l and δ^l along d
//
// The flat weight vector holds, for l = 1…L, the blocks W^{lr} by ascending r, row-major, then b^l. A sparse
// block has only the weights that are there. The parameters of a mixture's gates come last.
//
// Rows are taken in blocks of 96, and inside a block everything lies node by node: node i of a layer
// owns consecutive numbers, one for each row. So all inner loops run over rows, whatever the width of
// the layers; package pass has what one worker does with one block. Sums over rows are added in the order of
// reduce.Tree, a binary tree over contiguous groups of blocks that depends on the number of rows only: workers take
// whole nodes of it, and so do processes, if a Linearization is one reduce.Part of several. The bits of every result
// are therefore the same for any number of threads and of processes.
package models
