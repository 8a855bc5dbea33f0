#!/bin/sh
# Runs the tests of file systems that fail and of power cuts for long, optimised:
# scripts/soak-faults.sh [faults per scenario, 0: all] [power cuts per promise] [first seed]
# Prints how many there were and the rates; or the first promise that was broken, and how to see it again.
set -eu
cd "$(dirname "$0")/.."
export RESQLITE_FAULTS_RUNS="${1:-0}" RESQLITE_POWER_STATES="${2:-300000}" RUST_BACKTRACE=0
export RESQLITE_FAULTS_SEED="${3:-0}" RESQLITE_POWER_START="${3:-0}"
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
exec cargo test -p resqlite --test faults --test power_loss --release --locked --no-fail-fast -- --nocapture
