//! The costs of a cluster over a log with real servers, compared with that log and with a database alone. The two sides take
//! turns, so that what slows the machine slows both. Prints JSON. `node scripts/cluster/ratios.mjs` starts the servers.
//!
//! - `ratios <nats|etcd> costs <rounds> <commits>`: writes, reads, live queries.
//! - `ratios <nats|etcd> catch-up <rows>`: a node that was away.
//! - `ratios <nats|etcd> join <MiB>`: a new node that begins from a snapshot, and an entry of 16 MiB.

mod costs;
mod late;
mod world;

use std::error::Error;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let told = match arguments[..] {
        [kind, "costs", rounds, commits] => costs::costs(kind, rounds.parse()?, commits.parse()?)?,
        [kind, "catch-up", rows] => late::catch_up(kind, rows.parse()?)?,
        [kind, "join", mebibytes] => late::join(kind, mebibytes.parse()?)?,
        _ => {
            return Err(
                "usage: ratios <nats|etcd> costs <rounds> <commits> | catch-up <rows> | join <MiB>".into(),
            );
        }
    };
    println!("{told}");
    Ok(())
}
