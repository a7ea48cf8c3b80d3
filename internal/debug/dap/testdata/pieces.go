package main

import (
	"fmt"
	"os"
	"time"
)

type piece struct {
	Name  string
	Parts []int
	Next  *piece
	Any   interface{}
}

var total = 5

func add(a, b int) int {
	sum := a + b
	total += sum // in add
	return sum
}

func main() {
	next := &piece{Name: "next"}
	first := piece{Name: "first", Parts: []int{1, 2, 3}, Next: next, Any: 2.5}
	large := make([]int, 5000)
	names := map[string]int{"one": 1}
	for i := range first.Parts {
		first.Parts[i] = add(first.Parts[i], i) // in the loop
	}
	fmt.Println(first.Name, len(large), names["one"], total)
	if len(os.Args) > 1 && os.Args[1] == "panic" {
		panic("broken " + os.Args[1])
	}
	for len(os.Args) > 1 {
		time.Sleep(time.Millisecond)
		total++ // tick
	}
	os.Exit(7)
}
