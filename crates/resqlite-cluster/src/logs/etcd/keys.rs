//! The keys of a cluster.

use bytes::Bytes;
use resqlite::log::Position;

use super::proto::{DeleteRange, KeyValue, Operation, Put, Range, RangeResponse, RequestOp};
use crate::{
    core::{
        copies::Fault,
        log::NodeName,
        seal::{open_seal, seal},
    },
    logs::positions::digits,
};

#[derive(Debug, Clone)]
pub(super) struct Keys(NodeName);

impl Keys {
    pub(super) fn new(cluster: NodeName) -> Self {
        Self(cluster)
    }

    pub(super) fn entry(&self, position: Position) -> Bytes {
        self.key(&format!("entries/{}", digits(position)))
    }

    /// Returns a key after the last possible entry.
    pub(super) fn end_of_entries(&self) -> Bytes {
        self.key("entries0")
    }

    pub(super) fn last(&self) -> Bytes {
        self.key("last")
    }

    pub(super) fn purged(&self) -> Bytes {
        self.key("purged")
    }

    pub(super) fn snapshots(&self, name: &str) -> Bytes {
        self.key(&format!("snapshots/{name}"))
    }

    /// Returns the key that exists while the node serves.
    pub(super) fn node(&self, node: &NodeName) -> Bytes {
        self.key(&format!("nodes/{node}"))
    }

    pub(super) fn requests(&self, node: &NodeName, id: &str) -> Bytes {
        self.key(&format!("requests/{node}/{id}"))
    }

    pub(super) fn answer(&self, id: &str) -> Bytes {
        self.key(&format!("answers/{id}"))
    }

    fn key(&self, rest: &str) -> Bytes {
        format!("{}/{rest}", self.0).into()
    }
}

/// Returns a key after every key that begins with `prefix`, which ends with `/`.
pub(super) fn end_of(prefix: &Bytes) -> Bytes {
    let mut end = prefix.to_vec();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end.into()
}

pub(super) fn last_part(kv: &KeyValue) -> Option<&str> {
    std::str::from_utf8(&kv.key).ok()?.rsplit('/').next()
}

pub(super) fn position(digits: &[u8]) -> Option<Position> {
    std::str::from_utf8(digits).ok()?.parse().ok().map(Position)
}

/// Returns the value of a key without its seal.
pub(super) fn sealed(kv: KeyValue) -> Result<Bytes, Fault> {
    open_seal(&kv.key, kv.value).ok_or(Fault::Damaged)
}

/// Returns the position that is the value of a key, or 0 if there is no key.
pub(super) fn position_in(mut found: RangeResponse) -> Result<Position, Fault> {
    let Some(kv) = found.kvs.pop() else {
        return Ok(Position(0));
    };
    position(&sealed(kv)?).ok_or(Fault::Damaged)
}

/// Returns the sealed value of a key that holds a position.
pub(super) fn position_as_value(key: &Bytes, position: Position) -> Bytes {
    seal(key, digits(position).as_bytes())
}

pub(super) fn get(key: Bytes) -> RequestOp {
    Operation::Range(Range {
        key,
        ..Range::default()
    })
    .into()
}

pub(super) fn put(key: Bytes, value: impl Into<Bytes>, lease: i64) -> RequestOp {
    let value = value.into();
    Operation::Put(Put { key, value, lease }).into()
}

pub(super) fn delete(key: Bytes, range_end: Bytes) -> RequestOp {
    Operation::Delete(DeleteRange { key, range_end }).into()
}
