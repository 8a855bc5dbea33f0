//! The engines of this process by file, and the files that are being opened.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use crate::{
    api::engine::Engine,
    core::{
        error::{Error, Result},
        sync::{Condvar, Mutex, lock, wait},
    },
};

/// A file, and how it is used.
pub(super) type Key = (String, FileUse);

/// A kind of use of a file by an engine. Each kind has entries of its own in [`Engines`]; only
/// `Write` has a writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FileUse {
    Write,
    Read,
    /// Without locks: no other engine may have the file open.
    Immutable,
}

/// The engines of this process. Opening a file may wait for another process, so the lock is not held meanwhile: other files can be opened
/// at the same time.
pub(super) struct Engines {
    known: Mutex<HashMap<Key, Known>>,
    /// Announces that somebody has opened a file, or failed to open one.
    opened: Condvar,
}

enum Known {
    Opening,
    Open(Weak<Engine>),
}

/// The engine of a file, or the right to open it.
pub(super) enum Found<'a> {
    Engine(Arc<Engine>),
    /// There is no engine yet: the caller opens the file.
    Opening(Opening<'a>),
}

/// The right to open a file. Nobody else gets it until this is dropped.
pub(super) struct Opening<'a> {
    engines: &'a Engines,
    key: Key,
}

impl Engines {
    pub(super) fn new() -> Self {
        Self {
            known: Mutex::default(),
            opened: Condvar::new(),
        }
    }

    /// Finds the engine of a file. If somebody is opening the file, this waits. `may_open` gets the canonical paths of all files that are
    /// open or being opened.
    ///
    /// # Errors
    /// The error of `may_open`; the error of `in_the_way` if one use of the file is immutable and
    /// another is not.
    pub(super) fn find(
        &self,
        key: &Key,
        may_open: impl FnOnce(&[String]) -> Result<()>,
        in_the_way: impl FnOnce() -> Error,
    ) -> Result<Found<'_>> {
        let mut known = lock(&self.known);
        loop {
            let closing = match known.iter().find(|other| excludes(key, other)) {
                Some((_, Known::Open(engine))) => match engine.upgrade() {
                    Some(engine) => Some(engine).filter(|engine| !engine.is_in_use()),
                    None => continue,
                },
                Some((_, Known::Opening)) => None,
                None if matches!(known.get(key), Some(Known::Opening)) => {
                    known = wait(&self.opened, known);
                    continue;
                }
                None => break,
            };
            // The engine has no handles any more, but its threads may still work with the file.
            let Some(closing) = closing else {
                return Err(in_the_way());
            };
            drop(known);
            closing.wait_until_closed();
            self.forget(&closing);
            known = lock(&self.known);
        }
        if let Some(Known::Open(engine)) = known.get(key)
            && let Some(engine) = engine.upgrade()
        {
            return Ok(Found::Engine(engine));
        }
        known.retain(|_, known| known.is_alive());
        may_open(&files(&known))?;
        known.insert(key.clone(), Known::Opening);
        let key = key.clone();
        Ok(Found::Opening(Opening { engines: self, key }))
    }

    /// Forgets an engine that has no handles any more. Whoever wants its file then opens the file
    /// anew.
    pub(super) fn forget(&self, engine: &Arc<Engine>) {
        let is_it =
            |known: &Known| matches!(known, Known::Open(known) if known.as_ptr() == Arc::as_ptr(engine));
        lock(&self.known).retain(|_, known| !is_it(known));
    }

    /// Runs `work` while nobody can begin to open a database. `work` gets the canonical paths of all files that are open or being opened
    /// in this process.
    pub(super) fn among_files<R>(&self, work: impl FnOnce(&[String]) -> R) -> R {
        let known = lock(&self.known);
        work(&files(&known))
    }
}

impl Known {
    fn is_alive(&self) -> bool {
        match self {
            Self::Opening => true,
            Self::Open(engine) => engine.strong_count() > 0,
        }
    }
}

impl Opening<'_> {
    pub(super) fn has_opened(self, engine: &Arc<Engine>) {
        let opened = Known::Open(Arc::downgrade(engine));
        lock(&self.engines.known).insert(self.key.clone(), opened);
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut known = lock(&self.engines.known);
        if matches!(known.get(&self.key), Some(Known::Opening)) {
            known.remove(&self.key);
        }
        self.engines.opened.notify_all();
    }
}

/// Returns whether `known` excludes `wanted`: exactly one of the two uses of the file is immutable,
/// and the known engine still exists or is being opened.
fn excludes((file, wanted): &Key, ((other, used), known): &(&Key, &Known)) -> bool {
    let is_one_immutable = (*wanted == FileUse::Immutable) != (*used == FileUse::Immutable);
    file == other && is_one_immutable && known.is_alive()
}

fn files(known: &HashMap<Key, Known>) -> Vec<String> {
    let mut files = Vec::new();
    for ((file, _), known) in known {
        if let Known::Open(engine) = known {
            let Some(engine) = engine.upgrade() else { continue };
            files.extend(engine.parts.epoch.attached_files());
        }
        files.push(file.clone());
    }
    files
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Barrier,
            atomic::{AtomicBool, Ordering::SeqCst},
        },
        thread,
    };

    use super::{Engines, FileUse, Found, Key, Opening};
    use crate::core::error::Error;

    fn key(file: &str) -> Key {
        (file.into(), FileUse::Write)
    }

    fn open<'a>(engines: &'a Engines, file: &str) -> Opening<'a> {
        match engines.find(&key(file), |_| Ok(()), || Error::Closed) {
            Ok(Found::Opening(opening)) => opening,
            _ => panic!("{file} is not open"),
        }
    }

    // G9
    #[test]
    fn a_file_that_takes_long_to_open_holds_up_no_other() {
        let engines = Engines::new();
        let _slow = open(&engines, "slow.db");
        drop(open(&engines, "other.db"));
        engines.among_files(|files| assert_eq!(files, ["slow.db"]));
    }

    // G9
    #[test]
    fn of_two_who_open_the_same_file_one_waits_for_the_other() {
        let engines = Engines::new();
        let first = open(&engines, "a.db");
        let (is_ready, is_left) = (Barrier::new(2), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                is_ready.wait();
                let _second = open(&engines, "a.db");
                assert!(is_left.load(SeqCst));
            });
            is_ready.wait();
            thread::yield_now();
            is_left.store(true, SeqCst);
            drop(first);
        });
    }
}
