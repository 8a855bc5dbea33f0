#!/bin/sh
# Opens many damaged databases, optimised: scripts/soak-corrupt.sh [mutants] [first seed]
# Each is read, watched and written to in a child process; prints the seeds of those that crash, panic or hang. One seed
# alone is run again by RESQLITE_CORRUPT_SEED=… cargo test -p resqlite --test corrupt
set -eu
cd "$(dirname "$0")/.."
export RESQLITE_CORRUPT_MUTANTS="${1:-100000}" RESQLITE_CORRUPT_START="${2:-0}"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
exec cargo test -p resqlite --test corrupt --release --locked -- --nocapture
