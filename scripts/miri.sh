#!/bin/sh
# Runs the tests of the pure-logic crate under Miri, which finds undefined behaviour, leaks and overflows.
# Extra arguments go to `cargo miri test`: scripts/miri.sh commit_log
# RUST_NIGHTLY names another toolchain than nightly. Needs once: rustup toolchain install nightly --component miri,rust-src
set -eu
cd "$(dirname "$0")/.."
exec cargo "+${RUST_NIGHTLY:-nightly}" miri test -p resqlite-live "$@"
