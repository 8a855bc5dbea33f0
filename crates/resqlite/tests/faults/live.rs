//! A live query, and whether it shows what is there.

use std::pin::pin;

use resqlite::{Database, Emitted, LiveQuery, Result, Value};

use crate::{asked::now, watchdog::Watch};

pub const COUNT: &str = "SELECT count(*), sum(part) FROM log";
pub const TAIL: &str = "SELECT id, part FROM log WHERE id >= 4 ORDER BY id DESC, part LIMIT 10";

pub struct Live {
    sql: &'static str,
    query: LiveQuery,
    latest: Option<Result<Emitted>>,
}

impl Live {
    pub fn begin(db: &Database, sql: &'static str) -> Self {
        Self {
            sql,
            query: db.stream(sql, ()),
            latest: None,
        }
    }

    /// Takes what it was told.
    pub fn follow(&mut self) {
        while let Some(Some(told)) = now(pin!(self.query.next())) {
            self.latest = Some(told);
        }
    }

    /// Whether it is over: its first run failed.
    pub fn has_ended(&mut self) -> bool {
        self.follow();
        now(pin!(self.query.next())).is_some_and(|next| next.is_none())
    }

    /// Begins anew, if it is over. Now it must work.
    pub fn begin_anew_if_over(&mut self, db: &Database, watch: &Watch) {
        if self.has_ended() {
            *self = Self::begin(db, self.sql);
            let first = watch.wait(self.sql, || pollster::block_on(self.query.next()));
            self.latest = first;
        }
    }

    /// Whether the latest result is what a fresh query gives.
    ///
    /// # Errors
    /// The difference.
    pub fn is_fresh(&mut self, db: &Database) -> std::result::Result<(), String> {
        self.follow();
        let fresh = pollster::block_on(db.select(self.sql, ())).map_err(|error| error.to_string())?;
        let fresh: Vec<Vec<Value>> = fresh.iter().map(|row| row.values().to_vec()).collect();
        let latest = match &self.latest {
            Some(Ok(latest)) => latest,
            other => return Err(format!("{}: {other:?}", self.sql)),
        };
        let shown: Vec<Vec<Value>> = latest.rows().iter().map(|row| row.values().to_vec()).collect();
        if shown == fresh {
            Ok(())
        } else {
            Err(format!("{}: shown {shown:?}, fresh {fresh:?}", self.sql))
        }
    }
}
