#!/bin/sh
# Runs the random scripts of the live suite for long, optimised: scripts/soak-live.sh [commits] [first seed]
# Prints how far it is and, in the end, the rate; or the seed and the shrunken script of the first promise that was
# broken. The seed alone is run again by RESQLITE_LIVE_SEED=… cargo test -p resqlite --test live every_stream (or
# every_statement, a_maintained, groups_that, whichever told).
set -eu
cd "$(dirname "$0")/.."
export RESQLITE_LIVE_COMMITS="${1:-1000000}" RESQLITE_LIVE_START="${2:-0}" RUST_BACKTRACE=0
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
exec cargo test -p resqlite --test live --release --locked -- random::every_st random::a_maintained random::groups_ --nocapture
