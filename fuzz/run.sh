#!/bin/sh
# Feeds random bytes to what reads bytes or SQL from outside, under AddressSanitizer.
#
#   fuzz/run.sh 60                all targets, 60 seconds each
#   fuzz/run.sh 60 entry rows     these
#
# It stops at the first thing that it finds, which is kept in fuzz/artifacts. The program that it prints tries a file again.
# It needs clang or gcc with C++ for libFuzzer. SQLite itself is compiled without the sanitizer.
set -eu
cd "$(dirname "$0")"
seconds=${1:?usage: fuzz/run.sh SECONDS [TARGET…]}
shift
[ $# -gt 0 ] || set -- entry file message params rows sql
# The sanitizer and its coverage are unstable options, which the stable compiler takes like this.
export RUSTC_BOOTSTRAP=1
target=$(rustc -vV | sed -n 's/^host: //p')
coverage="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters"
coverage="$coverage -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares"
export RUSTFLAGS="--cfg fuzzing -Zsanitizer=address -Ccodegen-units=1 $coverage"
cargo build --release --locked --target "$target"
# Engines live as long as the process.
export ASAN_OPTIONS=detect_leaks=0
for name; do
  mkdir -p "corpus/$name" "artifacts/$name"
  "target/$target/release/$name" -artifact_prefix="artifacts/$name/" -timeout=25 -rss_limit_mb=2048 \
    -max_total_time="$seconds" "corpus/$name"
done
