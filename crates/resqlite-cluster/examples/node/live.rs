//! Live queries that print what they emit, and the same once more, audited after each commit that should not concern them.

use std::sync::Arc;

use resqlite::{
    Database, Emitted, Error, Params, Result, Value,
    binding::{ColumnLayout, Integers, RowBatch},
    live::{Delivery, Emission, Listener, LiveQueryRequest, Maintenance, Subscription},
};
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

use crate::say;

/// The queries that are watched: the balances that must have the same sum at each time, and a count that never falls.
const QUERIES: [(&str, &str); 3] = [
    ("balances", "SELECT balance FROM accounts ORDER BY id"),
    ("sum", "SELECT sum(balance) FROM accounts"),
    ("written", "SELECT count(*) FROM written"),
];

pub(crate) struct LiveQueries {
    _printed: JoinSet<()>,
    audited: Vec<Subscription>,
}

impl LiveQueries {
    /// Fails where the tables are not there yet.
    pub(crate) async fn begin(database: &Arc<Database>) -> Result<Self> {
        for (_, sql) in QUERIES {
            database.select(sql, ()).await?;
        }
        let mut printed = JoinSet::new();
        for (name, sql) in QUERIES {
            printed.spawn(print(Arc::clone(database), name, sql));
        }
        let audited = QUERIES.map(|(_, sql)| audit(database, sql));
        Ok(Self {
            _printed: printed,
            audited: audited.into(),
        })
    }

    pub(crate) fn stats(&self) -> Json {
        let stats: Vec<_> = self.audited.iter().map(Subscription::stats).collect();
        json!({
            "audits": stats.iter().map(|each| each.audits).sum::<u64>(),
            "missed": stats.iter().map(|each| each.missed).sum::<u64>(),
        })
    }
}

/// Prints each emission.
async fn print(database: Arc<Database>, name: &'static str, sql: &'static str) {
    let mut emissions = database.stream(sql, ());
    while let Some(next) = emissions.next().await {
        if let Ok(emitted) = next {
            say(&json!({ "emitted": name, "commit": emitted.commit.0, "sum": sum(&emitted) }));
        }
    }
}

fn sum(emitted: &Emitted) -> i64 {
    let first = |values: &[Value]| match values[0] {
        Value::Integer(value) => value,
        _ => 0,
    };
    emitted.rows().iter().map(|row| first(row.values())).sum()
}

fn audit(database: &Database, sql: &str) -> Subscription {
    let request = LiveQueryRequest {
        queries: vec![(sql.into(), Params::default())],
        integers: Integers::Auto,
        verify: 1.0,
        maintenance: Maintenance::default(),
    };
    database.engine().subscribe(request, Box::new(Silent))
}

/// Listens, so that the query runs.
struct Silent;

impl Listener for Silent {
    fn rows(&mut self, _: &Arc<ColumnLayout>, _: &RowBatch<'_>) -> bool {
        true
    }

    fn patch(&mut self, _: usize, _: &Arc<ColumnLayout>, _: &[resqlite_live::Segment]) {}

    fn emit(&mut self, _: Emission) -> Delivery {
        Delivery::Taken
    }

    fn discard(&mut self) {}

    fn fail(&mut self, _: &Error, _: bool) -> Delivery {
        Delivery::Taken
    }
}
