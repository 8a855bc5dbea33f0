//! Printing of the entries of the log.

use std::io::{self, Write};

use futures_util::{StreamExt, stream};
use resqlite::log::Position;
use resqlite_cluster::{Log, LogError, read_entry};
use serde_json::json;

use crate::Outcome;

pub(crate) async fn print(log: &dyn Log) -> Outcome<()> {
    let last = log.last().await?;
    let first = match log.read(Position(1)).await {
        Err(LogError::Purged { first }) => first,
        _ => Position(1),
    };
    let mut out = io::BufWriter::new(io::stdout());
    let mut entries = stream::iter(first.0..=last.0)
        .map(async |position| (position, read_entry(log, Position(position)).await))
        .buffered(64);
    while let Some((position, entry)) = entries.next().await {
        let bytes = entry?.unwrap_or_default();
        writeln!(out, "{}", json!([position, marks(&bytes)]))?;
    }
    Ok(())
}

/// The texts between `<<` and `>>`.
fn marks(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let marks = text.split("<<").skip(1).filter_map(|rest| rest.split_once(">>"));
    marks.map(|(mark, _)| mark.to_owned()).collect()
}
