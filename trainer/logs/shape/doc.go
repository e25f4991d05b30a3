// Package shape reads the numbers that programs print. It learns the shapes of a log: a shape is a line with holes
// where numbers stand. A shape is read once, from left to right, with what the words before a hole say; after that only
// its numbers are parsed.
//
// What the holes do over the lines decides with the words: which counter is x, whether 0,5 is a half, which process of
// several is read, whether the log has an x at all. So the first lines wait until some hundred have come, or nothing
// more for now.
//
// A number becomes a metric only where it looks like one: its name is a word that the field knows, or the line or those
// before it say which step or epoch it is about. Times, sizes and numbers with units are no metrics. 93% is 0.93 where
// the name says an accuracy or an error, else 93.
//
// Objects of JSON and the rows of tables with a separator between their cells are read by the same rules: their shape
// is their names. Each line is read as what it is, so that a program may print JSON between its messages, and write
// such messages into JSON. All of their numbers are given, but for what a logger says of itself.
package shape
