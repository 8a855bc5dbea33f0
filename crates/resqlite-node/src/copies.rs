//! Backups and checkpoints: their options and results as JSON.

use resqlite::{
    BackedUp, BackupOptions, CheckpointMode, Checkpointed, Error, Result, Verify, binding::BackupReply,
};
use serde_json::{Value, json};

use crate::reply::FrameReply;

/// Reads the payload of a `BACKUP` request. JavaScript has checked names and types already.
pub(crate) fn parse(text: &str) -> Result<(String, BackupOptions)> {
    let value: Value = serde_json::from_str(text).map_err(|error| Error::Option(error.to_string()))?;
    let path = value.get("path").and_then(Value::as_str).unwrap_or_default();
    let verify = match value.get("verify").and_then(Value::as_str) {
        Some("quick") => Verify::Quick,
        Some("off") => Verify::Off,
        _ => Verify::Full,
    };
    let options = BackupOptions {
        overwrite: value.get("overwrite").and_then(Value::as_bool).unwrap_or(false),
        verify,
    };
    Ok((path.to_owned(), options))
}

impl BackupReply for FrameReply {
    fn progress(&mut self, done: u32, total: u32) {
        self.tell(json!({ "done": done, "total": total }).to_string().as_bytes());
    }

    fn finish(self: Box<Self>, outcome: Result<BackedUp>) {
        match outcome {
            Ok(BackedUp { bytes, pages, commit }) => {
                self.json(
                    json!({ "bytes": bytes, "pages": pages, "commit": commit.0 })
                        .to_string()
                        .into_bytes(),
                );
            }
            Err(error) => self.fail(&error),
        }
    }
}

/// The mode of a `CHECKPOINT` request, by its place in the list of the protocol.
pub(crate) fn mode(number: u32) -> Option<CheckpointMode> {
    use CheckpointMode::{Full, Passive, Restart, Truncate};
    [Passive, Full, Restart, Truncate].get(number as usize).copied()
}

pub(crate) fn checkpointed(done: &Checkpointed) -> Vec<u8> {
    let Checkpointed { busy, log, copied } = done;
    let (log, copied) = (log.unwrap_or(0), copied.unwrap_or(0));
    json!({ "busy": busy, "logPages": log, "checkpointedPages": copied })
        .to_string()
        .into_bytes()
}
