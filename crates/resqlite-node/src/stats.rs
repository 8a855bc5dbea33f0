//! The counters of live queries, as they cross to JavaScript.

use resqlite::live::{Reason, StreamStats};
use serde_json::{Map, Value};

/// Declares the counters of [`StreamStats`] that are sent to JavaScript, in this order: `sums` can be added up over
/// live queries, `latest` cannot.
macro_rules! counters {
    (sums { $($sum:ident,)* } latest { $($latest:ident,)* }) => {
        const SUMS: [&str; [$(stringify!($sum)),*].len()] = [$(stringify!($sum)),*];
        const COUNT: usize = SUMS.len() + [$(stringify!($latest)),*].len();

        /// The counters of a live query, in their order.
        pub(crate) fn numbers(stats: &StreamStats) -> [f64; COUNT] {
            [$(stats.$sum.number(),)* $(stats.$latest.number(),)*]
        }
    };
}

counters! {
    sums {
        commits,
        skipped_by_table,
        skipped_by_column,
        skipped_by_key,
        reruns,
        maintained,
        rows_asked,
        whole_not_kept,
        whole_unknown_changes,
        whole_many_changes,
        whole_undecided,
        unchanged,
        emitted,
        coalesced,
        rows_patched,
        errors,
        given_up,
        audits,
        missed,
        total_micros,
    }
    latest {
        last_reason,
        last_micros,
        rows,
        volatile,
    }
}

/// The sums by name, as JSON.
pub(crate) fn sums(stats: &StreamStats) -> Map<String, Value> {
    SUMS.iter()
        .zip(numbers(stats))
        .map(|(name, number)| (camel_case(name), Value::from(number as u64)))
        .collect()
}

/// A counter as JavaScript gets it.
trait Number {
    fn number(self) -> f64;
}

impl Number for u64 {
    fn number(self) -> f64 {
        self as f64
    }
}

impl Number for bool {
    fn number(self) -> f64 {
        f64::from(u8::from(self))
    }
}

impl Number for Option<Reason> {
    fn number(self) -> f64 {
        reason_number(self).into()
    }
}

/// Returns 0 for the first run, and otherwise one more than the position of the reason in [`Reason`].
pub(crate) fn reason_number(reason: Option<Reason>) -> u32 {
    reason.map_or(0, |reason| reason as u32 + 1)
}

/// Converts a name to JavaScript's spelling: `rows_patched` becomes `rowsPatched`.
pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let (initial, rest) = word.split_at(1);
        name.push_str(&initial.to_uppercase());
        name.push_str(rest);
        name
    })
}
