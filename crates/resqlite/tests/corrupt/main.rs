//! Damaged files: whatever is wrong in them, the engine answers with data or with an error, and goes on.
//!
//! A mutant is made from a seed: a small database of some kind, and damage done to its file or its log. A child process,
//! which is this program again, opens it, reads, watches and writes; the process that started it sees crashes, panics
//! and hangs. A throw is a mutant.

mod child;
mod damage;
#[path = "../support/key.rs"]
mod key;
mod parent;
mod specimen;
