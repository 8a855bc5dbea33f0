#!/bin/sh
# Shows what the profile counters cost: instructions per operation, counted by valgrind's callgrind, and machine code,
# function by function, of crates/resqlite/examples/profile_cost.rs built
#   (a) from a commit without the counters, (b) with the feature `profile` off, (c) with it on.
#
#   scripts/profile-cost.sh [commit for (a), default HEAD] [runs, default 5] [operations, default 500]
#
# Start-up cancels out: each figure is the difference between a run of 2n operations and one of n, divided by n.
# Threads make the counts vary a little, so the median of several runs is given with the least and the most.
# Needs valgrind and objdump. Takes some minutes; everything is put below target/profile-cost.
set -eu
cd "$(dirname "$0")/.."
commit=$(git rev-parse --short "${1:-HEAD}") runs=${2:-5} operations=${3:-500}
for tool in valgrind objdump; do
  command -v "$tool" >/dev/null || { echo "$tool is not installed, and nothing can be counted without it" >&2; exit 1; }
done

folder=${CARGO_TARGET_DIR:-$PWD/target}/profile-cost
tree=$folder/tree
rm -rf "$tree"
mkdir -p "$tree" "$folder/bin"
git archive "$commit" | tar -x -C "$tree"
mkdir -p "$tree/crates/resqlite/examples"
cp crates/resqlite/examples/profile_cost.rs "$tree/crates/resqlite/examples/"

# build <source folder> <name> [options]
build() {
  (
    source=$1 name=$2
    shift 2
    cd "$source"
    CARGO_TARGET_DIR=$folder/build cargo build --quiet --locked --release -p resqlite --example profile_cost "$@"
    cp "$folder/build/release/examples/profile_cost" "$folder/bin/$name"
  )
}
build "$tree" a
build . b
build . c --features profile

# instructions <build> <kind> <operations>
instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/bin/$1" "$2" "$3" 2>&1 |
    sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}

echo "(a) $commit, (b) feature off, (c) feature on; instructions per operation, $runs runs"
for kind in select insert batch emit; do
  for name in a b c; do
    for _ in $(seq "$runs"); do
      one=$(instructions "$name" "$kind" "$operations")
      two=$(instructions "$name" "$kind" $((2 * operations)))
      echo $(((two - one) / operations))
    done | sort -n | awk -v kind="$kind" -v name="$name" \
      '{ v[NR] = $1 } END { printf "%-7s (%s)  median %d  least %d  most %d\n", kind, name, v[int((NR + 1) / 2)], v[1], v[NR] }'
  done
done
node scripts/profile-cost-functions.mjs "$folder/bin/a" "$folder/bin/b" "$folder/bin/c"
