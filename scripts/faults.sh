#!/bin/sh
# Tests the tests: plants each typical mistake (`planted("…")` in the sources) into the engine, one at a time, and runs
# the suites (live queries, the engine from outside and inside, a file system that fails, power cuts, the pure logic)
# until one fails. With every mistake one must fail; without any, all must pass.
# Names of faults as arguments leave the others out: scripts/faults.sh moved_key lose_pending_rerun
set -eu
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target/faults}" CARGO_TERM_COLOR=never
export RUSTFLAGS="--cfg resqlite_fault" RUST_BACKTRACE=0 RESQLITE_LIVE_NO_SHRINK=1 PROPTEST_DISABLE_FAILURE_PERSISTENCE=1
# A run of a suite takes less than a minute; a fault may make it hang.
patience=600
suites='live engine crate faults power_loss logic'

build() {
    case $1 in
        crate) target='-p resqlite --lib' ;;
        logic) target='-p resqlite-live --lib' ;;
        *) target="-p resqlite --test $1" ;;
    esac
    # shellcheck disable=SC2086 # several words
    built=$(cargo test $target --locked --no-run 2>&1) || { echo "$built" >&2; exit 1; }
    echo "$built" | sed -n 's/^ *Executable .*(\(.*\))$/\1/p'
}
for suite in $suites; do
    eval "program_$suite=\$(build $suite)"
done
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The suite fails that finds the mistake; its name is in $suite then.
run() {
    for suite in $suites; do
        eval "program=\$program_$suite"
        RESQLITE_FAULT="$1" timeout "$patience" "$program" >"$log" 2>&1 || return
    done
}

# What failed: the folder of scripts, the random ones, and the modules of other tests; names, where one module is all.
caught_by() {
    sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$log" | sed \
        -e 's/^random::scripts_that_failed_once.*/regressions/' \
        -e 's/^random::every_stream.*/every_stream/' \
        -e 's/^random::every_statement.*/every_statement/' \
        -e 's/^\(scenarios\|suite\):://' \
        -e 's/::.*//' |
        sort -u | paste -sd ' ' -
}

# How far the random scripts came.
reached() {
    sed -n 's/^seed \([0-9]*\) after \([0-9]*\) commits: .*/seed \1, commit \2/p' "$log" | head -n 1
}

run none || { cat "$log"; echo "The suite $suite fails without a fault." >&2; exit 1; }

survived=0
printf '%-22s %-11s %-26s %s\n' fault suite 'random scripts failed at' 'caught by'
# The simulation finds those of the cluster.
sources='crates/resqlite/src crates/resqlite-live/src crates/resqlite-sqlite/src'
# shellcheck disable=SC2086 # several words
for fault in ${*:-$(grep -rhoE 'planted\("[a-z_]+"\)' $sources | cut -d '"' -f 2 | sort -u)}; do
    if run "$fault"; then
        suite='' caught='SURVIVED'
        survived=$((survived + 1))
    else
        status=$?
        caught=$(caught_by)
        [ -n "$caught" ] || caught="exit status $status"
    fi
    printf '%-22s %-11s %-26s %s\n' "$fault" "$suite" "$(reached)" "$caught"
done

if [ "$survived" -gt 0 ]; then
    echo "Faults that survived: $survived" >&2
    exit 1
fi
