//! Writes, reads and live queries.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use bytes::Bytes;
use pollster::block_on;
use resqlite::{Database, LiveQuery, log::Position};
use resqlite_cluster::{Append, Cluster, Log};
use serde_json::{Value, json};

use crate::{
    Outcome,
    world::{INSERT, SCHEMA, World, in_flight, integer, median, median_of, micros},
};

const APPENDS: usize = 200;
const AWAITED: usize = 200;
const GROUPED: usize = 5_000;
const SELECTS: usize = 5_000;
const EMISSIONS: usize = 100;
const QUERIES: usize = 1_000;

/// The log, the nodes and the database that take turns.
struct Measured {
    world: World,
    /// A log of its own, on the same servers.
    log: std::sync::Arc<dyn Log>,
    end: Position,
    writer: Cluster,
    follower: Cluster,
    alone: Database,
    /// The next row.
    next: AtomicUsize,
    /// The bytes of an entry with one row.
    entry: Bytes,
}

pub fn costs(kind: &str, rounds: usize, commits: usize) -> Outcome<Value> {
    let mut measured = Measured::start(kind)?;
    let mut rounds_told = Vec::new();
    for _ in 0..rounds {
        rounds_told.push(measured.round()?);
    }
    Ok(json!({
        "entryBytes": measured.entry.len(),
        "rounds": rounds_told,
        "wasted": measured.wasted(commits)?,
    }))
}

impl Measured {
    fn start(kind: &str) -> Outcome<Self> {
        let world = World::new(kind, "ratios")?;
        let log = world.log_of("ratios-beside")?;
        let (writer, follower) = (world.open("a")?, world.open("b")?);
        let _third = world.open("c")?;
        let alone = block_on(Database::open(
            &world.path("alone")?,
            resqlite::Options::default(),
        ))?;
        block_on(writer.exec(SCHEMA))?;
        block_on(alone.exec(SCHEMA))?;
        let position = block_on(writer.execute(INSERT, [integer(0)]))?.position;
        let entry = world.runtime.block_on(world.log()?.read(position))?;
        let first: Vec<_> = (0..QUERIES).map(|id| vec![integer(id)]).collect();
        block_on(writer.execute_batch(INSERT, &first[1..]))?;
        block_on(alone.execute_batch(INSERT, &first))?;
        let end = world.runtime.block_on(log.last())?;
        Ok(Self {
            world,
            log,
            end,
            writer,
            follower,
            alone,
            next: AtomicUsize::new(QUERIES),
            entry: entry.ok_or("no entry")?,
        })
    }

    /// All of it once. The ratios are of neighbours.
    fn round(&mut self) -> Outcome<Value> {
        let append = self.appends()?;
        let awaited = median_of(AWAITED, |_| self.insert())?;
        let append_again = self.appends()?;
        let grouped = in_flight(GROUPED, async |_| self.insert_in(&self.writer).await)?;
        let forwarded = in_flight(GROUPED, async |_| self.insert_in(&self.follower).await)?;
        let (alone, node) = self.selects()?;
        let (acknowledged, shown) = self.emissions()?;
        let append_mean = (append + append_again) / 2.0;
        Ok(json!({
            "appendMicros": append_mean,
            "awaitedMicros": awaited,
            "groupedPerSecond": grouped,
            "forwardedPerSecond": forwarded,
            "selectAloneMicros": alone,
            "selectOnNodeMicros": node,
            "acknowledgedMicros": acknowledged,
            "shownElsewhereMicros": shown,
            "awaitedWriteToAppend": awaited / append_mean,
            "groupedWritesToAppends": grouped * append_mean / 1e6,
            "readsToAlone": alone / node,
            "emissionElsewhereToAcknowledgement": shown / acknowledged,
        }))
    }

    /// The time of one append of the size of an awaited write.
    fn appends(&mut self) -> Outcome<f64> {
        median_of(APPENDS, |_| {
            self.end = self.end.next();
            let append = self.log.append(self.end, self.entry.clone());
            match self.world.runtime.block_on(append)? {
                Append::Taken => Ok(()),
                Append::Refused => Err("somebody else appends".into()),
            }
        })
    }

    async fn insert_in(&self, node: &Cluster) -> resqlite_cluster::Result<()> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        node.execute(INSERT, [integer(id)]).await.map(drop)
    }

    fn insert(&self) -> Outcome<()> {
        Ok(block_on(self.insert_in(&self.writer))?)
    }

    /// The time of a point query on a database alone, and on a node.
    fn selects(&self) -> Outcome<(f64, f64)> {
        block_on(self.follower.fresh())?;
        let time = |database: &Database| {
            median_of(SELECTS, |number| {
                let id = integer(number % QUERIES);
                block_on(database.select("SELECT a FROM t WHERE id = ?", [id])).map(drop)
            })
        };
        let (mut alone, mut node) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            alone.push(time(&self.alone)?);
            node.push(time(self.follower.database())?);
        }
        Ok((median(&mut alone), median(&mut node)))
    }

    /// The time from a write here to its acknowledgement, and to its value in a keyed live query of another node.
    fn emissions(&self) -> Outcome<(f64, f64)> {
        let mut live = self.keyed(1)?;
        let live = &mut live[0];
        let (mut acknowledged, mut shown) = (Vec::new(), Vec::new());
        for _ in 0..EMISSIONS {
            let start = Instant::now();
            let (done, seen) = thread::scope(|scope| {
                let waits = scope.spawn(|| {
                    let emitted = block_on(live.next());
                    (emitted, micros(start))
                });
                let written = block_on(self.writer.execute("UPDATE t SET a = a || '.' WHERE id = 0", ()));
                (written.map(|_| micros(start)), waits.join())
            });
            acknowledged.push(done?);
            let (emitted, at) = seen.map_err(|_| "the thread failed")?;
            emitted.ok_or("the live query has ended")??;
            shown.push(at);
        }
        Ok((median(&mut acknowledged), median(&mut shown)))
    }

    /// Live queries of the first rows on the other node, with their first results.
    fn keyed(&self, count: usize) -> Outcome<Vec<LiveQuery>> {
        block_on(self.follower.fresh())?;
        let live = (0..count).map(|id| {
            let database = self.follower.database();
            let mut live = database.stream("SELECT a FROM t WHERE id = ?", [integer(id)]);
            block_on(live.next()).ok_or("the live query has ended")??;
            Ok(live)
        });
        live.collect()
    }

    /// Commits, each of one row of which a live query of the other node depends.
    fn wasted(&self, commits: usize) -> Outcome<Value> {
        let _live = self.keyed(QUERIES)?;
        let streams = || self.follower.database().diagnostics().streams.sums;
        let (before, from) = (streams(), self.writer.status().applied);
        for number in 0..commits {
            let values = [integer(number), integer(number % QUERIES)];
            block_on(self.writer.execute("UPDATE t SET a = ?1 WHERE id = ?2", values))?;
        }
        let entries = self.writer.status().applied.since(from);
        block_on(self.follower.fresh())?;
        self.wait_until_quiet();
        let after = streams();
        Ok(json!({
            "writes": commits,
            "entries": entries,
            "queries": QUERIES,
            "reruns": after.reruns - before.reruns,
            "wasted": after.unchanged - before.unchanged,
        }))
    }

    fn wait_until_quiet(&self) {
        let reruns = || self.follower.database().diagnostics().streams.sums.reruns;
        let mut last = u64::MAX;
        while last != reruns() {
            last = reruns();
            thread::sleep(std::time::Duration::from_millis(200));
        }
    }
}
