use std::time::{Duration, Instant};

use napi::bindgen_prelude::Function;
use napi_derive::napi;
use resqlite::{binding::ColumnLayout, profile};
use serde_json::{Map, Value};

use crate::{stats::camel_case, subscriptions::Delivery};

/// Counts rows that are handed over.
pub(crate) fn rows(rows: usize, layout: &ColumnLayout) {
    profile::record_rows(rows, layout.names().len());
}

/// Counts replies that are handed over: those that settle a request, and the values of live queries.
pub(crate) fn completions(settled: usize, deliveries: &[Delivery]) {
    let values = deliveries
        .iter()
        .filter(|delivery| matches!(delivery, Delivery::Value(_)));
    profile::record_completions(settled + values.count());
}

/// Requests that are being handed over.
pub(crate) struct Submission(Instant);

pub(crate) fn submission() -> Submission {
    Submission(Instant::now())
}

impl Submission {
    pub(crate) fn done(self) {
        profile::record_submit(self.0.elapsed());
    }
}

/// Calls the handler of replies. Counts the time of the call if the handler returns that there were any replies.
#[napi(catch_unwind)]
pub fn profile_turn(handler: Function<'_, (), bool>) -> napi::Result<()> {
    let began = Instant::now();
    if handler.call(())? {
        profile::record_completion_handler(began.elapsed());
    }
    Ok(())
}

/// Counts a new result. Handing it to its subscribers took this many milliseconds.
#[napi(catch_unwind)]
pub fn profile_emission(milliseconds: f64) {
    profile::record_stream_emit(Duration::from_nanos((milliseconds * 1e6) as u64));
}

/// The counters of the process by name, as JSON; times in microseconds.
#[napi(catch_unwind)]
pub fn profile_snapshot() -> String {
    let counters = profile::snapshot();
    let named = counters
        .iter()
        .map(|(name, value)| (camel_case(name), Value::from(value)));
    Value::Object(named.collect::<Map<_, _>>()).to_string()
}

/// Sets the counters of the process to 0.
#[napi(catch_unwind)]
pub fn profile_reset() {
    profile::reset();
}
