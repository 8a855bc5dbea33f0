use std::sync::Arc;

use resqlite::{
    Durability, Error, Options,
    binding::{Engine, Query, Token, Write},
};
use serde_json::Value;

use crate::{realm::Realm, reply::FrameReply};

pub(crate) const LOGS: &[&str] = &[];

pub(crate) fn break_log(_: &str, _: &str, _: &str, _: usize) {}

/// A node of a cluster. There is none without the feature `cluster`.
#[derive(Clone)]
pub(crate) enum Node {}

impl Node {
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        match *self {}
    }

    pub(crate) fn drop_cancelled(&self) {
        match *self {}
    }

    pub(crate) fn status(&self) -> String {
        match *self {}
    }
}

pub(crate) fn open(_: &Arc<Realm>, reply: FrameReply, _: &str, _: Options, _: &Value) {
    reply.fail(&Error::Option(
        "this native module was built without clusters".into(),
    ));
}

pub(crate) fn write(node: &Node, _: Write, _: FrameReply) {
    match *node {}
}

pub(crate) fn query(node: &Node, _: Query, _: Durability, _: FrameReply) {
    match *node {}
}

pub(crate) fn reach(node: &Node, _: f64, _: Token, _: FrameReply) {
    match *node {}
}

pub(crate) fn put_snapshot(node: &Node, _: Token, _: FrameReply) {
    match *node {}
}
