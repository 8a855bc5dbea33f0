//! Servers that run already, and what tests share of them.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

use resqlite_cluster::NodeName;

/// A name that no other test has, now or earlier.
pub(crate) fn unused_name() -> NodeName {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    NodeName::new(&format!("test-{now:x}-{next}")).unwrap()
}

/// The addresses in an environment variable.
pub(crate) fn servers(variable: &str) -> Vec<String> {
    let servers = std::env::var(variable).unwrap_or_else(|_| panic!("{variable} names no servers"));
    servers.split(',').map(str::to_owned).collect()
}
