package main

func Example() {
	main()
	// Output:
	// mse: test RMSE 1.9
	// pseudo-huber: test RMSE 0.6
}
