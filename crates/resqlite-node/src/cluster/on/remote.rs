//! The logs of other machines.

use std::{path::PathBuf, sync::Arc, time::Duration};

use resqlite_cluster::{
    Log, LogError, NodeName,
    etcd::{EtcdLog, EtcdOptions},
    nats::{NatsLog, NatsOptions},
};
use serde_json::Value;

pub(super) async fn nats(log: Value) -> Result<Arc<dyn Log>, LogError> {
    let mut options = NatsOptions::new(name(&log["stream"])?, texts(&log["servers"]));
    options.credentials = path(&log["credentials"]);
    options.system = texts(&log["system"]);
    set(
        &mut options.replicas,
        log["replicas"].as_u64().map(|count| count as usize),
    );
    set(&mut options.timeout, milliseconds(&log["timeout"]));
    Ok(Arc::new(NatsLog::open(options).await?))
}

pub(super) async fn etcd(log: Value) -> Result<Arc<dyn Log>, LogError> {
    let mut options = EtcdOptions::new(name(&log["prefix"])?, texts(&log["endpoints"]));
    options.authority = path(&log["authority"]);
    options.identity = path(&log["certificate"]).zip(path(&log["key"]));
    set(&mut options.timeout, milliseconds(&log["timeout"]));
    set(
        &mut options.limit,
        log["limit"].as_u64().map(|bytes| bytes as usize),
    );
    Ok(Arc::new(EtcdLog::open(options).await?))
}

fn set<T>(option: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *option = value;
    }
}

fn name(value: &Value) -> Result<NodeName, LogError> {
    let text = value.as_str().unwrap_or_default();
    NodeName::new(text).ok_or_else(|| LogError::Unfit(format!("{text:?} is no name for a log")))
}

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn path(value: &Value) -> Option<PathBuf> {
    value.as_str().map(PathBuf::from)
}

fn milliseconds(value: &Value) -> Option<Duration> {
    value
        .as_f64()
        .map(|ms| Duration::from_micros((ms * 1000.0) as u64))
}
