//! The content of the log: entries in envelopes. An envelope names the run that appended the entry and the requests of other
//! nodes that the entry carries.

use bytes::Bytes;
use resqlite::log::{Entry, Hash, Position};

use super::{
    bytes::{In, Out},
    parts::Parts,
};
use crate::protocol::{Link, Logged, RequestId, Run, Served};

const MAGIC: &[u8; 4] = b"rqc\x01";

/// Puts an entry into its envelope.
pub(crate) fn envelope(entry: &Entry, writer: Run, served: Vec<Served>) -> Logged {
    let mut out = Out(Vec::with_capacity(entry.as_bytes().len() + 64));
    out.0.extend_from_slice(MAGIC);
    out.run(&writer);
    out.number(served.len() as u64);
    for served in &served {
        out.run(&served.id.from);
        out.number(served.id.number.get());
        out.signed(served.changes);
        out.signed(served.last_insert_rowid);
        out.byte(u8::from(served.has_more));
    }
    out.0.extend_from_slice(entry.as_bytes());
    Logged {
        link: link(entry),
        writer,
        served,
        bytes: out.0.into(),
        entry: Some(entry.clone()),
    }
}

/// Opens an envelope.
///
/// # Errors
/// The text says what is wrong with the bytes.
pub(crate) fn open_envelope(bytes: Bytes) -> Result<Logged, String> {
    let no_envelope = || match Parts::from_bytes(Position(0), &bytes) {
        Some(_) => "parts of the entry are missing or damaged".to_owned(),
        None => "these bytes are no entry of a cluster, or that of a later version".to_owned(),
    };
    let (writer, served, entry) = fields(&bytes).ok_or_else(no_envelope)?;
    let entry = Entry::from_bytes(entry).map_err(|error| error.to_string())?;
    Ok(Logged {
        link: link(&entry),
        writer,
        served,
        bytes,
        entry: Some(entry),
    })
}

/// Returns the hash of the entry in an envelope, or `None` if these bytes are no envelope. The hash is not checked.
pub(crate) fn hash_in(bytes: &[u8]) -> Option<Hash> {
    let content = bytes.strip_prefix(MAGIC)?;
    content.last_chunk().copied().map(Hash)
}

fn fields(bytes: &[u8]) -> Option<(Run, Vec<Served>, &[u8])> {
    let mut rest = In(bytes.strip_prefix(MAGIC)?);
    let writer = rest.run()?;
    let count = rest.count()?;
    let served = (0..count).map(|_| served(&mut rest)).collect::<Option<_>>()?;
    Some((writer, served, rest.0))
}

fn served(rest: &mut In<'_>) -> Option<Served> {
    Some(Served {
        id: RequestId {
            from: rest.run()?,
            number: rest.number()?.try_into().ok()?,
        },
        changes: rest.signed()?,
        last_insert_rowid: rest.signed()?,
        has_more: rest.byte()? == 1,
    })
}

fn link(entry: &Entry) -> Link {
    Link {
        position: entry.position(),
        previous: entry.previous(),
        hash: entry.hash(),
    }
}
