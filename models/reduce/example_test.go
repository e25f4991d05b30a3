package reduce_test

import (
	"fmt"

	"newtop/models/reduce"
)

// A pool's threads do tasks between them.
func ExamplePool() {
	pool := reduce.NewPool(2)
	defer pool.Close()
	squares := make([]int, 5)
	pool.Run(len(squares), func(_, i int) { squares[i] = i * i })
	fmt.Println(squares)
	// Output: [0 1 4 9 16]
}

// Two processes share 1,000 rows in whole leaves of the tree, so that their sums have the bits of one process.
func ExampleTree() {
	tree := reduce.NewTree(1000)
	for rank := range 2 {
		first, last := tree.Rows(rank, 2)
		fmt.Println(rank, first, last)
	}
	// Output:
	// 0 0 480
	// 1 480 1000
}
