package main

import (
	"math"

	"github.com/anishathalye/porcupine"
)

// An operation on the text under a key, which is "" in the beginning.
type operation struct {
	Client int    `json:"client"`
	Key    string `json:"key"`
	// Do is read, write (a new text) or append (to the text). Both that write may be told what they found or what they left.
	Do    string `json:"do"`
	Value string `json:"value"`
	// Before is the text that it was told to have found, After that which it was told to have left.
	Before *string `json:"before"`
	After  *string `json:"after"`
	// Call and Return are moments; without a return, nobody knows whether it has happened.
	Call   int64  `json:"call"`
	Return *int64 `json:"return"`
}

func (o operation) forPorcupine() porcupine.Operation {
	// A write of unknown outcome may still happen: after everything else, nobody sees it.
	returned := int64(math.MaxInt64)
	if o.Return != nil {
		returned = *o.Return
	}
	return porcupine.Operation{ClientId: o.Client, Input: o, Call: o.Call, Return: returned}
}

func (o operation) leaves(text string) string {
	switch o.Do {
	case "write":
		return o.Value
	case "append":
		return text + o.Value
	default:
		return text
	}
}

// The model of one key.
var model = porcupine.Model{
	Init: func() any { return "" },
	Step: func(state, input, _ any) (bool, any) {
		before, asked := state.(string), input.(operation)
		after := asked.leaves(before)
		fits := (asked.Before == nil || *asked.Before == before) && (asked.After == nil || *asked.After == after)
		return fits, after
	},
}
