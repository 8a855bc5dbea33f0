//! Errors as JSON, from which JavaScript makes instances of its classes.

use resqlite::{EntryFault, Error};
use serde_json::{Value, json};

use crate::stats::camel_case;

/// Returns `{ kind, code, message, errno?, offset?, operation?, limit?, behind?, index? }`; `kind` names the class.
pub(crate) fn to_json(error: &Error) -> Vec<u8> {
    let Error::Member { index, error } = error else {
        return object(error).to_string().into_bytes();
    };
    let mut object = object(error);
    object["index"] = (*index).into();
    object.to_string().into_bytes()
}

fn object(error: &Error) -> Value {
    let kind = match error {
        _ if error.sqlite().is_some() => "sqlite",
        Error::Transaction { .. } => "transaction",
        Error::Parameter(_) | Error::Integer(_) => "range",
        Error::Option(_) => "type",
        Error::Limit { .. } => "limit",
        _ => "resqlite",
    };
    let mut object = json!({ "kind": kind, "code": code(error), "message": error.to_string() });
    if let Some(sqlite) = error.sqlite() {
        object["errno"] = sqlite.code().into();
        if let Some(offset) = sqlite.offset() {
            object["offset"] = offset.into();
        }
    }
    if let Error::Transaction { operation, .. } = error {
        object["operation"] = camel_case(operation).into();
    }
    if let Error::AbortedBehind { holder } = error {
        object["behind"] = holder.as_str().into();
    }
    if let Error::Limit { limit, .. } = error {
        object["limit"] = (*limit).into();
    }
    object
}

/// The code of an error. In this binding only clusters have entries, and the errors of these entries have codes of
/// their own.
fn code(error: &Error) -> &'static str {
    match error {
        Error::Entry {
            fault: EntryFault::Overtaken,
            ..
        } => "RESQLITE_OVERTAKEN",
        Error::Entry {
            fault: EntryFault::NotCommitted | EntryFault::Unanswered,
            ..
        } => "RESQLITE_OUTCOME_UNKNOWN",
        error => error.code(),
    }
}
