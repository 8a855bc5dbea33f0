//! The connection of a node to its log.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, LazyLock, Mutex},
};

use resqlite_cluster::{Log, LogError, MemoryConnection, MemoryLog};
use serde_json::Value;

use crate::sync::lock;

/// The logs that this module knows.
#[cfg(feature = "logs")]
pub(crate) const LOGS: &[&str] = &["memory", "nats", "etcd"];
#[cfg(not(feature = "logs"))]
pub(crate) const LOGS: &[&str] = &["memory"];

pub(super) type Connecting = Pin<Box<dyn Future<Output = Result<Arc<dyn Log>, LogError>> + Send>>;

/// Connects a node to the log that JavaScript describes. JavaScript has checked names and types already.
pub(super) fn connect(node: &str, log: &Value) -> Connecting {
    let kind = log["kind"].as_str().unwrap_or_default();
    match kind {
        "memory" => {
            let connection = memory(log["name"].as_str().unwrap_or_default(), node);
            Box::pin(async move { Ok(Arc::new(connection) as Arc<dyn Log>) })
        }
        #[cfg(feature = "logs")]
        "nats" => Box::pin(super::remote::nats(log.clone())),
        #[cfg(feature = "logs")]
        "etcd" => Box::pin(super::remote::etcd(log.clone())),
        _ => {
            let message = format!("this native module was built without the log {kind:?}");
            Box::pin(async move { Err(LogError::Unfit(message)) })
        }
    }
}

/// The logs in the memory of this process, by name, with the connections of their nodes. The logs stay until the
/// process ends.
static MEMORY: LazyLock<Mutex<HashMap<String, Memory>>> = LazyLock::new(Mutex::default);

#[derive(Default)]
struct Memory {
    log: MemoryLog,
    connections: HashMap<String, MemoryConnection>,
}

fn memory(name: &str, node: &str) -> MemoryConnection {
    let mut logs = lock(&MEMORY);
    let Memory { log, connections } = logs.entry(name.to_owned()).or_default();
    let connection = connections
        .entry(node.to_owned())
        .or_insert_with(|| log.connect());
    connection.clone()
}

/// Breaks a log in memory, as tests ask for it.
pub(crate) fn break_log(name: &str, what: &str, node: &str, count: usize) {
    let connection = memory(name, node);
    match what {
        "cut" => connection.cut(true),
        "mend" => connection.cut(false),
        "loseAnswers" => connection.lose_answers(count),
        "forget" => lock(&MEMORY)[name].log.forget(count),
        _ => {}
    }
}
