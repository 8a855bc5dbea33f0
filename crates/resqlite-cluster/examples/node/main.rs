//! A node that is told by lines what to do, for the scripts that break its machine.
//!
//! - `node <nats|etcd> <cluster> open <name> <database> [setting=value ...]`: opens a node, prints `{"opened":position}`, and
//!   answers each line of stdin by a line that carries the same `id`; [`commands`] has what it can be told. Prints what its
//!   live queries emit, too. Closes when stdin ends. The settings are `write_timeout` (milliseconds), `snapshot_every`
//!   (entries), and `plant`: a mistake that checkers must find, `stale-read` or `lost-write`.
//! - `node <nats|etcd> <cluster> entries`: prints `[position,["mark", ...]]` for each entry of the log: what stands there
//!   between `<<` and `>>`.
//!
//! `RESQLITE_NATS` and `RESQLITE_ETCD` name the servers.

mod commands;
mod content;
mod entries;
mod live;
mod plant;
mod values;

use std::{
    env,
    error::Error,
    io::{self, BufRead, Write},
    rc::Rc,
    sync::Arc,
    time::Duration,
};

use resqlite_cluster::{
    Cluster, Log, NodeName, Options,
    etcd::{EtcdLog, EtcdOptions},
    nats::{NatsLog, NatsOptions},
};
use serde_json::{Value as Json, json};
use tokio::{
    sync::mpsc,
    task::{JoinSet, LocalSet},
};

use commands::Commands;
use plant::Plant;

type Outcome<T> = Result<T, Box<dyn Error>>;

// The future of a transaction stays on its thread.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [kind, cluster, "open", name, database, ref settings @ ..] => {
            let log = open_log(kind, cluster).await?;
            let (options, plant) = settings_of(NodeName::new(name).ok_or("that is no name")?, settings)?;
            let cluster = Cluster::open(database, options, log).await?;
            LocalSet::new().run_until(run(cluster, plant)).await
        }
        [kind, cluster, "entries"] => entries::print(&*open_log(kind, cluster).await?).await,
        _ => Err(
            "usage: node <nats|etcd> <cluster> open <name> <database> [setting=value ...] | entries".into(),
        ),
    }
}

async fn open_log(kind: &str, cluster: &str) -> Outcome<Arc<dyn Log>> {
    let variable = format!("RESQLITE_{}", kind.to_uppercase());
    let servers = env::var(&variable).map_err(|_| format!("{variable} names no servers"))?;
    let servers = servers.split(',');
    let name = NodeName::new(cluster).ok_or("that is no name of a cluster")?;
    Ok(match kind {
        "nats" => Arc::new(NatsLog::open(NatsOptions::new(name, servers)).await?),
        "etcd" => Arc::new(EtcdLog::open(EtcdOptions::new(name, servers)).await?),
        _ => return Err(format!("no log {kind}").into()),
    })
}

fn settings_of(name: NodeName, settings: &[&str]) -> Outcome<(Options, Plant)> {
    let mut options = Options {
        snapshot_every: None,
        ..Options::new(name)
    };
    let mut plant = Plant::Nothing;
    for setting in settings {
        match setting.split_once('=').ok_or("a setting is name=value")? {
            ("write_timeout", value) => options.write_timeout = Duration::from_millis(value.parse()?),
            ("snapshot_every", value) => options.snapshot_every = Some(value.parse()?),
            ("plant", value) => plant = Plant::named(value).ok_or("there is no such mistake")?,
            (name, _) => return Err(format!("no setting {name}").into()),
        }
    }
    Ok((options, plant))
}

async fn run(cluster: Cluster, plant: Plant) -> Outcome<()> {
    let commands = Rc::new(Commands::new(cluster, plant));
    say(&json!({ "opened": commands.cluster.status().applied.0 }));
    let mut lines = lines_of_stdin();
    let mut running = JoinSet::new();
    while let Some(line) = lines.recv().await {
        let commands = Rc::clone(&commands);
        running.spawn_local(async move { say(&commands.answer(&line).await) });
        while running.try_join_next().is_some() {}
    }
    running.shutdown().await;
    if let Some(commands) = Rc::into_inner(commands) {
        commands.close();
    }
    Ok(())
}

fn lines_of_stdin() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    lines
}

/// Prints one line; whoever should read it may be gone.
fn say(what: &Json) {
    let _ = writeln!(io::stdout(), "{what}");
}
