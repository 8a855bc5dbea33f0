//! The engine on a file system that fails.
//!
//! A [scenario](scenarios) is run once without a fault, which counts the calls that SQLite makes on the file system.
//! Then it is run again and again; each time another call fails, in one of the ways in which such calls do, once,
//! for a while or for good. After every run the file system is healed, and [checked](check) is what must hold
//! whatever failed: every request was answered, what was acknowledged is there, what was refused is not, live queries
//! show what is there, the engine serves new requests, and closing it leaves no thread and no open file behind.

mod asked;
mod check;
#[path = "../support/folder.rs"]
mod folder;
#[path = "../support/key.rs"]
mod key;
mod ledger;
mod live;
mod resources;
mod scenarios;
mod sweep;
mod watchdog;
mod world;
