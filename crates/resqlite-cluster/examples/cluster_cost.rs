//! What a cluster costs beside a database alone, over a log that takes no time: `cargo run --release -p resqlite-cluster
//! --example cluster_cost`.

use std::{path::Path, sync::Arc, time::Instant};

use futures_util::{StreamExt, stream};
use pollster::block_on;
use resqlite::Database;
use resqlite_cluster::{Cluster, MemoryLog, NodeName, Options};

const SCHEMA: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)";
const INSERT: &str = "INSERT INTO t(a) VALUES (?)";
const AWAITED: u32 = 2_000;
const IN_FLIGHT: usize = 64;
const WRITES: usize = 50_000;

fn main() -> resqlite_cluster::Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let log = MemoryLog::new();
    let alone = block_on(Database::open(text(&path("alone")), resqlite::Options::default()))?;
    block_on(alone.exec(SCHEMA))?;
    let writer = open(&log, &path("a"))?;
    let other = open(&log, &path("b"))?;
    block_on(writer.exec(SCHEMA))?;

    awaited("a database alone", || {
        block_on(alone.execute(INSERT, ["x".into()])).map(drop)
    })?;
    awaited("the node that writes", || {
        block_on(writer.execute(INSERT, ["x".into()])).map(drop)
    })?;
    awaited("another node", || {
        block_on(other.execute(INSERT, ["x".into()])).map(drop)
    })?;
    in_flight("a database alone", async || {
        alone.execute(INSERT, ["x".into()]).await.map(drop)
    })?;
    in_flight("the node that writes", async || {
        writer.execute(INSERT, ["x".into()]).await.map(drop)
    })?;
    in_flight("another node", async || {
        other.execute(INSERT, ["x".into()]).await.map(drop)
    })?;

    let entries = log.entries().len();
    let start = Instant::now();
    let late = open(&log, &path("c"))?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "a new node: {:.0} entries per second, of {entries}",
        late.status().applied as f64 / seconds
    );
    Ok(())
}

fn open(log: &MemoryLog, file: &Path) -> resqlite_cluster::Result<Cluster> {
    let name = file.file_name().and_then(|name| NodeName::new(name.to_str()?));
    let options = Options::new(name.expect("a name"));
    block_on(Cluster::open(text(file), options, Arc::new(log.connect())))
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

fn awaited<E>(who: &str, write: impl Fn() -> Result<(), E>) -> Result<(), E> {
    let start = Instant::now();
    for _ in 0..AWAITED {
        write()?;
    }
    println!(
        "{who}: {:?} per write, one after the other",
        start.elapsed() / AWAITED
    );
    Ok(())
}

fn in_flight<E>(who: &str, write: impl AsyncFn() -> Result<(), E>) -> Result<(), E> {
    let start = Instant::now();
    let writes = stream::iter(0..WRITES)
        .map(|_| write())
        .buffer_unordered(IN_FLIGHT);
    block_on(writes.fold(Ok(()), async |done: Result<(), E>, next| done.and(next)))?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{who}: {:.0} writes per second, {IN_FLIGHT} in flight",
        WRITES as f64 / seconds
    );
    Ok(())
}
