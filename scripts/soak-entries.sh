#!/bin/sh
# Runs the random scripts of the entries for long, optimised: scripts/soak-entries.sh [entries] [first seed]
# What each script commits is applied to a copy that began empty, and to one that began as a backup from the middle; all must
# hold the same, indexes of words and of boxes included. Prints the rate every 3,000 entries; or the seed of the first
# difference, which is run again alone by RESQLITE_ENTRIES=1 RESQLITE_ENTRIES_SEED=… cargo test -p resqlite --test live entries.
set -eu
cd "$(dirname "$0")/.."
wanted=${1:-100000} seed=${2:-1} part=3000
export RUST_BACKTRACE=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
cargo test -p resqlite --test live --release --locked --no-run
made=0 start=$(date +%s)
while [ "$made" -lt "$wanted" ]; do
  line=$(RESQLITE_ENTRIES=$part RESQLITE_ENTRIES_SEED=$seed \
    cargo test -q -p resqlite --test live --release --locked -- entries::copies --nocapture | grep -a '^seeds ')
  seed=$(echo "$line" | sed 's/.*before \([0-9]*\),.*/\1/')
  made=$((made + $(echo "$line" | sed 's/.*, \([0-9]*\) entries.*/\1/')))
  now=$(date +%s)
  echo "$made entries, next seed $seed, $((made / (now - start + 1))) per second"
done
