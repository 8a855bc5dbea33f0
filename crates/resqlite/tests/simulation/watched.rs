//! A live query that says what it shows now, and whose result is always maintained.

use std::sync::{Arc, Mutex, PoisonError};

use resqlite::{
    Database, Error, Rows,
    binding::{ColumnLayout, Integers, RowBatch},
    live::{Delivery, Emission, Listener, LiveQueryRequest, Maintenance, Segment, Subscription},
};
use shuttle::sync::mpsc::channel;

use crate::{bank::integers, failing::is_of_disk};

type Table = Vec<Vec<i64>>;

/// A live query over integers.
pub struct Watched {
    subscription: Subscription,
    shown: Arc<Mutex<Table>>,
}

impl Watched {
    /// `holds`: of every result.
    pub fn begin(db: &Database, sql: &'static str, holds: fn(&[Vec<i64>]) -> bool) -> Self {
        let shown = Arc::default();
        let listener = Folder {
            sql,
            holds,
            fresh: Vec::new(),
            patched: None,
            shown: Arc::clone(&shown),
        };
        let request = LiveQueryRequest {
            queries: vec![(sql.into(), ().into())],
            integers: Integers::BigInt,
            verify: 0.0,
            maintenance: Maintenance::Always,
        };
        let subscription = db.engine().subscribe(request, Box::new(listener));
        Self { subscription, shown }
    }

    /// Waits until it shows all that the engine has committed before.
    pub fn catch_up(&self) {
        let (tell, told) = channel();
        self.subscription
            .when_caught_up(Box::new(move || tell.send(()).unwrap()));
        told.recv().unwrap();
    }

    pub fn shows(&self) -> Table {
        table(&self.shown).clone()
    }
}

fn table(shown: &Mutex<Table>) -> impl std::ops::DerefMut<Target = Table> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Folder {
    sql: &'static str,
    holds: fn(&[Vec<i64>]) -> bool,
    /// Rows for the next patch.
    fresh: Table,
    /// The result that is not complete.
    patched: Option<Table>,
    shown: Arc<Mutex<Table>>,
}

impl Listener for Folder {
    fn rows(&mut self, layout: &Arc<ColumnLayout>, batch: &RowBatch<'_>) -> bool {
        let mut rows = Rows::default();
        rows.extend(layout, &batch.to_bytes());
        self.fresh.extend(integers(rows.iter()));
        true
    }

    fn patch(&mut self, _: usize, _: &Arc<ColumnLayout>, segments: &[Segment]) {
        let before = table(&self.shown);
        self.patched = Some(Segment::apply(segments, &before, self.fresh.drain(..)));
    }

    fn emit(&mut self, _: Emission) -> Delivery {
        if let Some(rows) = self.patched.take() {
            assert!(
                (self.holds)(&rows),
                "{}: {rows:?} after {:?}",
                self.sql,
                *table(&self.shown)
            );
            *table(&self.shown) = rows;
        }
        Delivery::Taken
    }

    fn discard(&mut self) {
        (self.patched, self.fresh) = (None, Vec::new());
    }

    fn fail(&mut self, error: &Error, _: bool) -> Delivery {
        let is_known = *error == Error::Closed || is_of_disk(error.code());
        assert!(is_known, "{}: {error}", self.sql);
        Delivery::Taken
    }
}
