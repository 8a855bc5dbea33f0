#!/bin/sh
# Runs the tests of the pure-logic crate under Miri, which finds undefined behaviour, leaks and overflows.
# Extra arguments go to `cargo miri test`: scripts/miri.sh commit_log
# Needs once: rustup toolchain install nightly --component miri,rust-src
set -eu
cd "$(dirname "$0")/.."
exec cargo +nightly miri test -p resqlite-live "$@"
