//! The calls that nodes answer in their own way.

use std::sync::Arc;

use resqlite::{
    Durability, Options,
    binding::{Query, Token, Write},
    log::Position,
};
use resqlite_cluster::{Cluster, Error, Reach, reseed};
use serde_json::Value;

use super::{errors::refuse, logs, node::Node, settings};
use crate::{opened::Opened, realm::Realm, reply::FrameReply};

/// Opens a node, and keeps it in the realm. With `"reseed"` in place of settings, makes a file that founds a cluster.
pub(crate) fn open(realm: &Arc<Realm>, reply: FrameReply, path: &str, database: Options, settings: &Value) {
    if settings == "reseed" {
        let path = path.to_owned();
        return realm
            .under_way
            .run(move || send_position(reply, pollster::block_on(reseed(&path, database))));
    }
    let options = match settings::parse(settings, database) {
        Ok(options) => options,
        Err(error) => return reply.fail(&error),
    };
    let (kept_by, path, log) = (Arc::clone(realm), path.to_owned(), settings["log"].clone());
    realm.under_way.run(move || {
        let name = options.node.as_str().to_owned();
        let connect = move || logs::connect(&name, &log);
        match pollster::block_on(Cluster::connect(&path, options, connect)) {
            Err(error) => refuse(reply, &error),
            Ok(cluster) => reply.opened(kept_by.keep(Opened::Node(Node(Arc::new(cluster))))),
        }
    });
}

pub(crate) fn write(node: &Node, write: Write, reply: FrameReply) {
    node.0.submit(write, Box::new(reply));
}

pub(crate) fn query(node: &Node, query: Query, durability: Durability, reply: FrameReply) {
    node.0.query(query, durability, Box::new(reply));
}

/// Waits until the node has reached `position`, or the last position if `position` is -1.
pub(crate) fn reach(node: &Node, position: f64, token: Token, reply: FrameReply) {
    let what = if position < 0.0 {
        Reach::Fresh
    } else {
        Reach::After(Position(position as u64))
    };
    node.0
        .reach(what, token, Box::new(move |done| send_position(reply, done)));
}

pub(crate) fn put_snapshot(node: &Node, token: Token, reply: FrameReply) {
    node.0
        .put_snapshot(token, Box::new(move |done| send_position(reply, done)));
}

fn send_position(reply: FrameReply, done: Result<Position, Error>) {
    match done {
        Ok(position) => reply.json(position.to_string().into_bytes()),
        Err(error) => refuse(reply, &error),
    }
}
