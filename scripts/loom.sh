#!/bin/sh
# Model-checks the queues between threads: loom runs every interleaving of their locks and wake-ups, as far as the
# bounds in the tests reach. Extra arguments go to the test runner: scripts/loom.sh loom_in_a_pause
set -eu
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
export RUSTFLAGS="--cfg loom"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
exec cargo test -p resqlite --lib --release "${@:-loom_}"
