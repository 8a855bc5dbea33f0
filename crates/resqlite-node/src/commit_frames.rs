//! The events of a commit listener, written as frames.

use std::sync::{Arc, Mutex};

use resqlite::{CommitEvent, Error, TableEvent};
use serde_json::json;

use crate::{
    commit_listeners::{Tell, Told},
    errors,
    frames::ReplyHeader,
    protocol::{ReplyFlags, ReplyKind},
    realm::Realm,
    sync::lock,
};

/// Writes the first frame of a listener, and returns what writes the others. The last one allows the number of the request
/// to be used again.
pub(crate) fn begin(realm: Arc<Realm>, request: u32) -> Tell {
    let frames = Frames {
        realm,
        request,
        settled: Mutex::new(false),
    };
    frames.push(ReplyKind::Ok, ReplyFlags::NONE, Vec::new());
    Arc::new(move |told| frames.tell(told))
}

struct Frames {
    realm: Arc<Realm>,
    request: u32,
    /// The last frame was written. Held while a frame is written, so that none follows the last.
    settled: Mutex<bool>,
}

impl Frames {
    fn tell(&self, told: Told) {
        match told {
            Told::Event(Ok(event)) => self.push(ReplyKind::Json, ReplyFlags::NONE, to_json(&event)),
            Told::Event(Err(error)) => self.fail(&error),
            Told::End => self.push(ReplyKind::Ok, ReplyFlags::LAST, Vec::new()),
        }
    }

    fn fail(&self, error: &Error) {
        self.push(ReplyKind::Error, ReplyFlags::LAST, errors::to_json(error));
    }

    fn push(&self, kind: ReplyKind, flags: ReplyFlags, payload: Vec<u8>) {
        let mut settled = lock(&self.settled);
        if *settled {
            return;
        }
        *settled = flags.has(ReplyFlags::LAST);
        let header = ReplyHeader {
            kind,
            flags,
            request: self.request,
            argument: payload.len() as u32,
        };
        self.realm.outbox.push_owned(header, payload);
    }
}

fn to_json(event: &CommitEvent) -> Vec<u8> {
    let table = |table: &TableEvent| {
        json!({
            "schema": table.name.schema(),
            "table": table.name.table(),
            "inserted": table.operations.inserts,
            "updated": table.operations.updates,
            "deleted": table.operations.deletes,
        })
    };
    let tables = event.tables.as_ref();
    json!({
        "from": event.first,
        "to": event.last,
        "external": event.is_external,
        "schemaChanged": event.schema_changed,
        "truncated": event.is_truncated,
        "tables": tables.map(|tables| tables.iter().map(table).collect::<Vec<_>>()),
    })
    .to_string()
    .into_bytes()
}
