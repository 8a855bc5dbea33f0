//! What `open` is told and what it and `diagnostics` tell, as JSON.

use std::time::{Duration, UNIX_EPOCH};

use resqlite::{Diagnostics, Durability, Error, Holder, Options, Result};
use serde_json::{Value, json};

use crate::live;

/// The path and the options of an OPEN request. JavaScript has checked names and types already.
pub(crate) fn parse(text: &str) -> Result<(String, Options)> {
    let value: Value = serde_json::from_str(text).map_err(|error| Error::Option(error.to_string()))?;
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    let flag = |name: &str| value.get(name).and_then(Value::as_bool);
    let path = value
        .get("path")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let full = value.get("durability").and_then(Value::as_str) == Some("full");
    let options = Options {
        read_only: flag("readOnly").unwrap_or(false),
        readers: number("readers").map(|readers| readers as usize),
        durability: if full {
            Durability::Full
        } else {
            Durability::Normal
        },
        busy_timeout: number("busyTimeout").map(|ms| Duration::from_micros((ms * 1000.0) as u64)),
        foreign_keys: flag("foreignKeys"),
        statement_cache_size: number("statementCacheSize").map(|size| size as usize),
        pragmas: value
            .get("pragmas")
            .and_then(Value::as_object)
            .map(pragmas)
            .unwrap_or_default(),
        watch_external: flag("watchExternal"),
        trusted_schema: flag("trustedSchema"),
        defensive: flag("defensive"),
        untrusted: flag("untrusted"),
    };
    Ok((path, options))
}

fn pragmas(object: &serde_json::Map<String, Value>) -> Vec<(String, String)> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Bool(flag) => u8::from(*flag).to_string(),
        other => other.to_string(),
    };
    object
        .iter()
        .map(|(name, value)| (name.clone(), text(value)))
        .collect()
}

/// What `diagnostics()` gives.
pub(crate) fn diagnostics(d: &Diagnostics) -> Vec<u8> {
    let mut streams = live::sums(&d.streams.sums);
    streams["open"] = d.streams.open.into();
    streams["running"] = d.streams.running.into();
    streams["queued"] = d.streams.queued.into();
    streams["queuedMost"] = d.streams.queued_most.into();
    streams["foreignCommits"] = d.streams.foreign_commits.into();
    let object = json!({
        "path": d.path,
        "sqliteVersion": d.sqlite_version,
        "readOnly": d.read_only,
        "handles": d.handles,
        "fileBytes": d.file_bytes,
        "commits": d.commits,
        "wal": {
            "bytes": d.wal_bytes,
            "pages": d.wal_pages,
            "checkpoints": d.checkpoints,
            "readerGaps": d.reader_gaps,
        },
        "readers": {
            "max": d.readers_max,
            "started": d.readers,
            "busy": d.readers_busy,
            "queued": d.reads_queued,
            "queuedMost": d.reads_queued_most,
        },
        "leases": {
            "open": d.leases,
            "queued": d.leases_queued,
            "holders": d.lease_holders.iter().map(lease).collect::<Vec<_>>(),
        },
        "writer": {
            "transaction": d.transaction.as_ref().map(holder),
            "queued": d.writes_queued,
            "groups": d.groups,
            "largestGroup": d.largest_group,
            "splitGroups": d.split_groups,
        },
        "streams": streams,
    });
    object.to_string().into_bytes()
}

fn lease(lease: &Holder) -> Value {
    let mut object = holder(lease);
    object["kind"] = if lease.sql.is_some() {
        "iterate"
    } else {
        "snapshot"
    }
    .into();
    if let Some(sql) = &lease.sql {
        object["sql"] = sql.as_ref().into();
    }
    object
}

fn holder(holder: &Holder) -> Value {
    let since = holder.since.duration_since(UNIX_EPOCH).unwrap_or_default();
    json!({ "since": since.as_millis() as f64, "idle": holder.idle })
}
