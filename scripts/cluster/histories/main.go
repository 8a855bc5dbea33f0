// Command histories says whether what clients of a cluster were told can have happened in one order, each operation between
// its call and its return.
//
//	histories < operations
//
// Each line of stdin is an operation as JSON (see operation). Prints how many operations and keys there were, and the keys of
// which nobody can tell such an order; fails if there is one.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// patience is for one key. Without an answer in time, the key is listed as undecided.
const patience = 30 * time.Second

type verdict struct {
	Operations int      `json:"operations"`
	Unknown    int      `json:"unknown"`
	Keys       int      `json:"keys"`
	Impossible []string `json:"impossible"`
	Undecided  []string `json:"undecided"`
}

func main() {
	log.SetFlags(0)
	operations, err := read(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	found := check(operations)
	printed, err := json.Marshal(found)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(printed))
	if len(found.Impossible) > 0 {
		os.Exit(1)
	}
}

func read(from io.Reader) ([]operation, error) {
	var operations []operation
	lines := json.NewDecoder(bufio.NewReader(from))
	for {
		var next operation
		if err := lines.Decode(&next); err == io.EOF {
			return operations, nil
		} else if err != nil {
			return nil, fmt.Errorf("operation %d: %w", len(operations)+1, err)
		}
		operations = append(operations, next)
	}
}

func check(operations []operation) verdict {
	found := verdict{Operations: len(operations), Impossible: []string{}, Undecided: []string{}}
	byKey := map[string][]porcupine.Operation{}
	for _, each := range operations {
		if each.Return == nil {
			found.Unknown++
		}
		byKey[each.Key] = append(byKey[each.Key], each.forPorcupine())
	}
	found.Keys = len(byKey)
	for key, history := range byKey {
		switch porcupine.CheckOperationsTimeout(model, history, patience) {
		case porcupine.Illegal:
			found.Impossible = append(found.Impossible, key)
		case porcupine.Unknown:
			found.Undecided = append(found.Undecided, key)
		}
	}
	return found
}
