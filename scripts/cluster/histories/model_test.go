package main

import "testing"

func text(of string) *string { return &of }

func at(moment int64) *int64 { return &moment }

func impossible(operations ...operation) bool {
	return len(check(operations).Impossible) > 0
}

func TestOperationsOneAfterTheOtherArePossible(t *testing.T) {
	if impossible(
		operation{Do: "write", Value: "a", Call: 1, Return: at(2)},
		operation{Do: "append", Value: "b", After: text("ab"), Call: 3, Return: at(4)},
		operation{Do: "read", Before: text("ab"), Call: 5, Return: at(6)},
	) {
		t.Fatal("it is possible")
	}
}

func TestAReadOfWhatWasThereBeforeAnAcknowledgedWriteIsFound(t *testing.T) {
	if !impossible(
		operation{Do: "write", Value: "a", Call: 1, Return: at(2)},
		operation{Do: "write", Value: "b", Call: 3, Return: at(4)},
		operation{Do: "read", Before: text("a"), Call: 5, Return: at(6)},
	) {
		t.Fatal("the read is stale")
	}
}

func TestAnAcknowledgedWriteThatIsLostIsFound(t *testing.T) {
	if !impossible(
		operation{Do: "append", Value: "a", Call: 1, Return: at(2)},
		operation{Do: "append", Value: "b", After: text("b"), Call: 3, Return: at(4)},
	) {
		t.Fatal("a was lost")
	}
}

func TestAWriteThatIsDoneTwiceIsFound(t *testing.T) {
	if !impossible(
		operation{Do: "append", Value: "a", Call: 1, Return: at(2)},
		operation{Do: "read", Before: text("aa"), Call: 3, Return: at(4)},
	) {
		t.Fatal("a was done twice")
	}
}

func TestTwoThatChangeTheSameTextWithoutEachOtherAreFound(t *testing.T) {
	if !impossible(
		operation{Do: "write", Value: "a", Before: text(""), Call: 1, Return: at(4)},
		operation{Do: "write", Value: "b", Before: text(""), Call: 2, Return: at(3)},
	) {
		t.Fatal("one must have found what the other left")
	}
}

func TestAWriteOfUnknownOutcomeMayHaveHappenedLateOrNot(t *testing.T) {
	unknown := operation{Do: "write", Value: "a", Call: 1}
	for _, read := range []string{"", "a"} {
		if impossible(unknown, operation{Do: "read", Before: text(""), Call: 2, Return: at(3)},
			operation{Do: "read", Before: text(read), Call: 4, Return: at(5)}) {
			t.Fatalf("%q can be read", read)
		}
	}
}

func TestAWriteOfUnknownOutcomeDoesNotGoAwayAgain(t *testing.T) {
	if !impossible(
		operation{Do: "write", Value: "a", Call: 1},
		operation{Do: "read", Before: text("a"), Call: 2, Return: at(3)},
		operation{Do: "read", Before: text(""), Call: 4, Return: at(5)},
	) {
		t.Fatal("it was seen, and went away")
	}
}
