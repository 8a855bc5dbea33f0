//! The path and the options with which a database is opened, read from JSON.

use std::time::Duration;

use resqlite::{Checkpoints, Durability, Error, Extension, Options, Resting, Result};
use serde_json::Value;

use crate::key;

/// The database to be opened.
pub(crate) enum Content {
    /// A file, or a new database in memory.
    At(String),
    /// A database in memory with bytes that were uploaded under this number.
    Uploaded(u32),
    /// A file that is a node of a cluster, and the settings of the node.
    Node(String, Value),
}

/// Reads the payload of an `OPEN` request. JavaScript has checked names and types already.
pub(crate) fn parse(text: &str) -> Result<(Content, Options)> {
    let value: Value = serde_json::from_str(text).map_err(|error| Error::Option(error.to_string()))?;
    let number = |name: &str| value.get(name).and_then(Value::as_f64);
    let flag = |name: &str| value.get(name).and_then(Value::as_bool);
    let path = value
        .get("path")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let uploaded = value.get("upload").and_then(Value::as_u64);
    let content = match (uploaded, value.get("cluster")) {
        (Some(number), _) => Content::Uploaded(number as u32),
        (None, Some(settings)) => Content::Node(path, settings.clone()),
        (None, None) => Content::At(path),
    };
    let full = value.get("durability").and_then(Value::as_str) == Some("full");
    let options = Options {
        read_only: flag("readOnly").unwrap_or(false),
        immutable: flag("immutable").unwrap_or(false),
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
        inline: flag("inline"),
        rest: match value.get("rest") {
            Some(Value::Bool(false)) => Some(Resting::Never),
            _ => number("rest").map(|ms| Resting::After(Duration::from_micros((ms * 1000.0) as u64))),
        },
        trusted_schema: flag("trustedSchema"),
        defensive: flag("defensive"),
        double_quoted_strings: flag("doubleQuotedStrings"),
        untrusted: flag("untrusted"),
        extensions: value
            .get("extensions")
            .and_then(Value::as_array)
            .map(|list| list.iter().filter_map(extension).collect())
            .unwrap_or_default(),
        functions: Vec::new(),
        file_must_exist: flag("fileMustExist").unwrap_or(false),
        checkpoints: match value.get("checkpoints").and_then(Value::as_str) {
            Some("auto") => Some(Checkpoints::Auto),
            Some("passive") => Some(Checkpoints::Passive),
            Some("manual") => Some(Checkpoints::Manual),
            _ => None,
        },
        key: value.get("key").map(key::of).transpose()?,
    };
    Ok((content, options))
}

/// Reads an extension: a path, or an object with a path and an entry point.
fn extension(value: &Value) -> Option<Extension> {
    let path = value.as_str().or_else(|| value.get("path")?.as_str())?;
    let entry_point = value.get("entryPoint").and_then(Value::as_str);
    Some(Extension {
        path: path.into(),
        entry_point: entry_point.map(str::to_owned),
    })
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
