//! A log with real servers, and nodes on it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::{StreamExt, stream};
use pollster::block_on;
use resqlite::Value;
use resqlite_cluster::{
    Cluster, Log, NodeName, Options,
    etcd::{EtcdLog, EtcdOptions},
    nats::{NatsLog, NatsOptions},
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::Outcome;

pub const IN_FLIGHT: usize = 64;
/// The row of number `?1`, with a text as long as that of many programs.
pub const INSERT: &str = "INSERT INTO t(id, a) VALUES (?, 'forty letters are what many a program stores')";
pub const SCHEMA: &str = "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT)";

/// Where the clients of the log live.
pub struct World {
    pub runtime: Runtime,
    pub folder: TempDir,
    kind: String,
    name: NodeName,
}

impl World {
    /// `name`: tells the logs of one set of servers apart.
    pub fn new(kind: &str, name: &str) -> Outcome<Self> {
        Ok(Self {
            runtime: Runtime::new()?,
            folder: tempfile::tempdir()?,
            kind: kind.to_owned(),
            name: NodeName::new(name).ok_or("no name")?,
        })
    }

    pub fn log(&self) -> Outcome<Arc<dyn Log>> {
        self.log_of(self.name.as_str())
    }

    /// Another log on the same servers.
    pub fn log_of(&self, name: &str) -> Outcome<Arc<dyn Log>> {
        let name = NodeName::new(name).ok_or("no name")?;
        let variable = format!("RESQLITE_{}", self.kind.to_uppercase());
        let servers = std::env::var(&variable).map_err(|_| format!("{variable} names no servers"))?;
        let servers = servers.split(',');
        Ok(match &*self.kind {
            "nats" => Arc::new(
                self.runtime
                    .block_on(NatsLog::open(NatsOptions::new(name, servers)))?,
            ),
            "etcd" => Arc::new(
                self.runtime
                    .block_on(EtcdLog::open(EtcdOptions::new(name, servers)))?,
            ),
            kind => return Err(format!("no log {kind}").into()),
        })
    }

    pub fn path(&self, name: &str) -> Outcome<String> {
        let path = self.folder.path().join(name).into_os_string();
        Ok(path.into_string().map_err(|_| "a path that is no text")?)
    }

    pub fn open(&self, name: &str) -> Outcome<Cluster> {
        let options = Options {
            // Another node's write waits behind others when the machine is busy.
            forward_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(60),
            ..Options::new(NodeName::new(name).ok_or("no name")?)
        };
        Ok(block_on(Cluster::open(&self.path(name)?, options, self.log()?))?)
    }
}

/// Runs so many writes with [`IN_FLIGHT`] of them at the same time; returns how many a second.
pub fn in_flight<E>(count: usize, write: impl AsyncFn(usize) -> Result<(), E>) -> Result<f64, E> {
    let start = Instant::now();
    let writes = stream::iter(0..count)
        .map(|number| write(number))
        .buffer_unordered(IN_FLIGHT);
    block_on(writes.fold(Ok(()), async |done: Result<(), E>, next| done.and(next)))?;
    Ok(count as f64 / start.elapsed().as_secs_f64())
}

/// The median time of so many calls, one after the other, in microseconds.
pub fn median_of<E>(count: usize, mut call: impl FnMut(usize) -> Result<(), E>) -> Result<f64, E> {
    let mut times = Vec::with_capacity(count);
    for number in 0..count {
        let start = Instant::now();
        call(number)?;
        times.push(micros(start));
    }
    Ok(median(&mut times))
}

pub fn micros(since: Instant) -> f64 {
    since.elapsed().as_nanos() as f64 / 1e3
}

pub fn median(times: &mut [f64]) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

pub fn integer(value: usize) -> Value {
    Value::Integer(value as i64)
}
