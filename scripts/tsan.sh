#!/bin/sh
# Runs the engine's tests under ThreadSanitizer, which finds data races in Rust and in SQLite alike.
# Extra arguments go to the test runner: scripts/tsan.sh readers::
# RUST_NIGHTLY names another toolchain than nightly. Needs once: rustup toolchain install nightly --component rust-src
set -eu
cd "$(dirname "$0")/.."
target=$(rustc -vV | sed -n 's/^host: //p')
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/tsan"
export RUSTFLAGS="-Zsanitizer=thread" CFLAGS="-fsanitize=thread"
# Deep recursion takes more stack here.
export RUST_MIN_STACK=$((64 << 20))
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/scripts/tsan.supp ${TSAN_OPTIONS:-}"
exec cargo "+${RUST_NIGHTLY:-nightly}" test -Zbuild-std --target "$target" -p resqlite --lib --test engine "$@"
