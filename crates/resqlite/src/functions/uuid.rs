//! `uuid()`, `uuid7()`, `uuid_str(x)`, `uuid_blob(x)`.

use std::{
    str,
    time::{SystemTime, UNIX_EPOCH},
};

use resqlite_sqlite::{Call, Connection, Result, Signature, ValueRef, random};
use uuid::{Builder, Uuid};

pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_function(Signature::innocuous("uuid", 0, false), |call| {
        text(call, random_uuid())
    })?;
    connection.create_function(Signature::innocuous("uuid7", 0, false), |call| {
        text(call, ordered_uuid())
    })?;
    connection.create_function(Signature::innocuous("uuid_str", 1, true), |call| {
        match argument(call) {
            Some(uuid) => text(call, uuid),
            None => Ok(()),
        }
    })?;
    connection.create_function(Signature::innocuous("uuid_blob", 1, true), |call| {
        if let Some(uuid) = argument(call) {
            call.set(ValueRef::Blob(uuid.as_bytes()));
        }
        Ok(())
    })
}

/// Returns a UUID of version 4: 122 random bits.
fn random_uuid() -> Uuid {
    Builder::from_random_bytes(random()).into_uuid()
}

/// Returns a UUID of version 7. It begins with the time in milliseconds, so that a new UUID is last in an index.
fn ordered_uuid() -> Uuid {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Builder::from_unix_timestamp_millis(now.as_millis() as u64, &random()).into_uuid()
}

/// Reads a UUID from 16 bytes, or from text with or without hyphens, braces or `urn:uuid:`. Returns `None` for anything else.
fn argument(call: &Call<'_>) -> Option<Uuid> {
    match call.arguments().next()? {
        ValueRef::Blob(bytes) => Uuid::from_slice(bytes).ok(),
        ValueRef::Text(bytes) => Uuid::try_parse(str::from_utf8(bytes).ok()?).ok(),
        _ => None,
    }
}

fn text(call: &Call<'_>, uuid: Uuid) -> Result<(), String> {
    let mut buffer = Uuid::encode_buffer();
    call.set(ValueRef::Text(
        uuid.hyphenated().encode_lower(&mut buffer).as_bytes(),
    ));
    Ok(())
}
