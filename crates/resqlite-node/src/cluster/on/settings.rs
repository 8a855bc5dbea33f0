//! The options of a node, as JSON.

use std::time::Duration;

use resqlite::Error;
use resqlite_cluster::{NodeName, Options};
use serde_json::Value;

/// Reads the options of a node. JavaScript has checked names and types already.
pub(super) fn parse(settings: &Value, database: resqlite::Options) -> Result<Options, Error> {
    let name = settings["node"].as_str().unwrap_or_default();
    let node = NodeName::new(name).ok_or_else(|| Error::Option(format!("{name:?} is no name for a node")))?;
    let mut options = Options {
        database,
        ..Options::new(node)
    };
    let times = [
        ("writeTimeout", &mut options.write_timeout),
        ("logTimeout", &mut options.log_timeout),
        ("forwardTimeout", &mut options.forward_timeout),
        ("tailTimeout", &mut options.tail_timeout),
    ];
    for (name, time) in times {
        if let Some(ms) = settings[name].as_f64() {
            *time = Duration::from_micros((ms * 1000.0) as u64);
        }
    }
    options.writes = settings["writes"].as_bool().unwrap_or(true);
    match &settings["snapshotEvery"] {
        Value::Bool(false) => options.snapshot_every = None,
        every => options.snapshot_every = every.as_u64().or(options.snapshot_every),
    }
    Ok(options)
}
