//! A client of a log, for the scripts that measure logs and break their servers.
//!
//! - `log <nats|etcd> <name> append <client>`: appends one entry after the other until stdin ends, and prints the position of
//!   each that is acknowledged, with its bytes.
//! - `log <nats|etcd> <name> follow`: prints the position of each entry with its bytes, as they come, until stdin ends.
//! - `log <nats|etcd> <name> list`: prints all positions with their bytes.
//! - `log <nats|etcd> <name> measure <bytes> <count>`: prints how long calls take, in microseconds.
//!
//! `RESQLITE_NATS` and `RESQLITE_ETCD` name the servers.

use std::{
    error::Error,
    io::{self, Read, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, future::BoxFuture};
use resqlite::log::Position;
use resqlite_cluster::{
    Append, Handler, Log, LogError, NodeName,
    etcd::{EtcdLog, EtcdOptions},
    nats::{NatsLog, NatsOptions},
};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [kind, name, "append", client] => append(&*open(kind, name).await?, client).await,
        [kind, name, "follow"] => follow(&*open(kind, name).await?).await,
        [kind, name, "list"] => list(&*open(kind, name).await?).await,
        [kind, name, "measure", bytes, count] => {
            let (log, follower) = (open(kind, name).await?, open(kind, name).await?);
            measure(&*log, &*follower, bytes.parse()?, count.parse()?).await
        }
        _ => Err(
            "usage: log <nats|etcd> <name> append <client> | follow | list | measure <bytes> <count>".into(),
        ),
    }
}

async fn open(kind: &str, name: &str) -> Outcome<Box<dyn Log>> {
    let variable = format!("RESQLITE_{}", kind.to_uppercase());
    let servers = std::env::var(&variable).map_err(|_| format!("{variable} names no servers"))?;
    let servers = servers.split(',');
    let name = NodeName::new(name).ok_or("the name has other characters than letters, digits, - and _")?;
    Ok(match kind {
        "nats" => Box::new(NatsLog::open(NatsOptions::new(name, servers)).await?),
        "etcd" => Box::new(EtcdLog::open(EtcdOptions::new(name, servers)).await?),
        _ => return Err(format!("no log {kind}").into()),
    })
}

async fn append(log: &dyn Log, client: &str) -> Outcome<()> {
    let is_over = Arc::new(AtomicBool::new(false));
    watch_stdin(Arc::clone(&is_over));
    let mut position = loop {
        match log.last().await {
            Ok(last) => break last.next(),
            Err(LogError::Unknown(_) | LogError::Unreachable(_)) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let mut count = 0_u64;
    while !is_over.load(Ordering::Relaxed) {
        let bytes = Bytes::from(format!("{client}-{count}"));
        if stands(log, position, &bytes).await? {
            writeln!(io::stdout(), "{position} {client}-{count}")?;
            count += 1;
        }
        position = position.next();
    }
    Ok(())
}

/// Returns whether the bytes are at the position; otherwise, others are. Unknown outcomes are settled by the same append.
async fn stands(log: &dyn Log, position: Position, bytes: &Bytes) -> Outcome<bool> {
    let mut was_unknown = false;
    loop {
        match log.append(position, bytes.clone()).await {
            Ok(Append::Taken) => return Ok(true),
            Ok(Append::Refused) if !was_unknown => return Ok(false),
            Ok(Append::Refused) => match log.read(position).await {
                Ok(Some(found)) => return Ok(found == bytes),
                Ok(None) | Err(LogError::Unknown(_) | LogError::Unreachable(_)) => {}
                Err(error) => return Err(error.into()),
            },
            Err(LogError::Unknown(_)) => was_unknown = true,
            Err(LogError::Unreachable(_)) => tokio::time::sleep(Duration::from_millis(10)).await,
            Err(error) => return Err(error.into()),
        }
    }
}

fn watch_stdin(is_over: Arc<AtomicBool>) {
    thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        is_over.store(true, Ordering::Relaxed);
    });
}

async fn follow(log: &dyn Log) -> Outcome<()> {
    let is_over = Arc::new(AtomicBool::new(false));
    watch_stdin(Arc::clone(&is_over));
    let mut entries = log.tail(Position(1));
    while !is_over.load(Ordering::Relaxed) {
        let Ok(entry) = tokio::time::timeout(Duration::from_millis(100), entries.next()).await else {
            continue;
        };
        let (position, bytes) = entry.ok_or("the tail has ended")??;
        writeln!(io::stdout(), "{position} {}", String::from_utf8_lossy(&bytes))?;
    }
    Ok(())
}

async fn list(log: &dyn Log) -> Outcome<()> {
    let last = log.last().await?;
    let mut entries = log.tail(Position(1)).take(last.0.try_into()?);
    let mut out = io::BufWriter::new(io::stdout());
    while let Some(entry) = entries.next().await {
        let (position, bytes) = entry?;
        writeln!(out, "{position} {}", String::from_utf8_lossy(&bytes))?;
    }
    Ok(())
}

async fn measure(log: &dyn Log, follower: &dyn Log, bytes: usize, count: usize) -> Outcome<()> {
    let entry = Bytes::from(vec![7; bytes]);
    let first = log.last().await?.next();
    let mut tail = follower.tail(first);
    let (mut appends, mut delays) = (Vec::new(), Vec::new());
    for position in (first.0..).map(Position).take(count) {
        let begun = Instant::now();
        let append = async {
            let outcome = log.append(position, entry.clone()).await;
            (outcome, Instant::now())
        };
        let follow = async {
            let entry = tail.next().await;
            (entry, Instant::now())
        };
        let ((appended, acknowledged), (_, followed)) = tokio::join!(append, follow);
        if appended? != Append::Taken {
            return Err("somebody else appends".into());
        }
        appends.push(acknowledged - begun);
        delays.push(followed.saturating_duration_since(acknowledged));
    }
    report(&format!("append of {bytes} bytes"), appends);
    report("tail after the acknowledgement", delays);

    let node = NodeName::new("echo").ok_or("a name")?;
    let _serving = follower.serve(&node, Arc::new(Echo)).await?;
    while log.request(&node, Bytes::new()).await.is_err() {}
    report("last", time(count, || log.last().map(|_| ()).boxed()).await);
    report("read", time(count, || log.read(first).map(|_| ()).boxed()).await);
    report(
        "request",
        time(count, || log.request(&node, "?".into()).map(|_| ()).boxed()).await,
    );
    Ok(())
}

async fn time<'a>(count: usize, call: impl Fn() -> BoxFuture<'a, ()>) -> Vec<Duration> {
    let mut times = Vec::new();
    for _ in 0..count {
        let begun = Instant::now();
        call().await;
        times.push(begun.elapsed());
    }
    times
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)].as_micros();
    println!("{what}: p50 {} µs, p99 {} µs", at(50), at(99));
}

struct Echo;

impl Handler for Echo {
    fn handle(&self, request: Bytes, _: usize) -> BoxFuture<'static, Bytes> {
        async move { request }.boxed()
    }
}
