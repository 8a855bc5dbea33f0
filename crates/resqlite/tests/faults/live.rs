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

    /// Takes what it was told, and what it is told until it works: begins anew, if it is over since its first run failed,
    /// and waits for the next attempt, if it met an error that passes.
    pub fn heal(&mut self, db: &Database, watch: &Watch) {
        loop {
            let told = now(pin!(self.query.next()));
            if let Some(told) = told {
                self.take(db, told);
                continue;
            }
            if let Some(Ok(_)) = self.latest {
                return;
            }
            let told = watch.wait(self.sql, || pollster::block_on(self.query.next()));
            self.take(db, told);
        }
    }

    fn take(&mut self, db: &Database, told: Option<Result<Emitted>>) {
        match told {
            Some(told) => self.latest = Some(told),
            None => *self = Self::begin(db, self.sql),
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
