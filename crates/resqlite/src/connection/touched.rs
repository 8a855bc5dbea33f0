//! Learns of programs that read or write a file to which this process has no connection.
//!
//! Opening a file is no sign: SQLite's own layer opens the file when it closes the last connection. Also, a program may have opened the
//! file before.

/// A receiver that is told when a program has read or written its file, or has moved or deleted it.
pub(super) trait Touched: Send + Sync {
    /// Notes that this has happened. `is_gone` states that the file was deleted.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody is told there"))]
    fn was_touched(&self, is_gone: bool);
}

/// A watch on a file. While the watch is kept, the system reports when a program reads or writes
/// the file.
#[derive(Debug)]
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody has one there"))]
pub(super) struct Watch(i32);

#[cfg(target_os = "linux")]
pub(crate) use linux::tell;
#[cfg(target_os = "linux")]
pub(super) use linux::watch;

#[cfg(target_os = "linux")]
mod linux {
    use std::{
        collections::HashMap,
        mem::MaybeUninit,
        os::fd::OwnedFd,
        sync::{Arc, Weak},
    };

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};

    use super::{Touched, Watch};
    use crate::core::sync::{Mutex, OfProcess, lock};

    struct Watched {
        inotify: OwnedFd,
        by_watch: HashMap<i32, Weak<dyn Touched>>,
    }

    /// The one descriptor for all files, with their watches.
    static WATCHED: OfProcess<Mutex<Option<Watched>>> = OfProcess::new(Mutex::default);

    /// Makes the system report from now on. Returns `None` if it cannot: it allows each user only a
    /// limited number of watches.
    pub(in super::super) fn watch(path: &str, file: Weak<dyn Touched>) -> Option<Watch> {
        let mut watched = lock(WATCHED.get());
        if watched.is_none() {
            let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let by_watch = HashMap::new();
            *watched = Some(Watched { inotify, by_watch });
        }
        let watched = watched.as_mut()?;
        let what = WatchFlags::ACCESS | WatchFlags::MODIFY | WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF;
        let watch = inotify::add_watch(&watched.inotify, path, what).ok()?;
        watched.by_watch.insert(watch, file);
        Some(Watch(watch))
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            if let Some(watched) = &mut *lock(WATCHED.get())
                && watched.by_watch.remove(&self.0).is_some()
            {
                // The watch no longer exists if the file was deleted.
                let _ = inotify::remove_watch(&watched.inotify, self.0);
            }
        }
    }

    /// Tells the files what has happened to them.
    pub(crate) fn tell() {
        for (file, is_gone) in happened() {
            file.was_touched(is_gone);
        }
    }

    /// Returns the files to which something has happened, and whether each is gone.
    fn happened() -> Vec<(Arc<dyn Touched>, bool)> {
        let mut watched = lock(WATCHED.get());
        let Some(watched) = watched.as_mut().filter(|watched| !watched.by_watch.is_empty()) else {
            return Vec::new();
        };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&watched.inotify, &mut buffer);
        let mut happened = Vec::new();
        // The reader ends with an error when there are no more events.
        while let Ok(event) = events.next() {
            let what = event.events();
            if what.contains(ReadFlags::QUEUE_OVERFLOW) {
                let all = watched.by_watch.values().filter_map(Weak::upgrade);
                happened.extend(all.map(|file| (file, false)));
            } else if !what.contains(ReadFlags::IGNORED) {
                let file = watched.by_watch.get(&event.wd()).and_then(Weak::upgrade);
                let is_gone = what.contains(ReadFlags::DELETE_SELF);
                happened.extend(file.map(|file| (file, is_gone)));
            }
        }
        happened
    }
}

/// Returns `None`. Other systems could report this only at a cost, so files do not rest there.
#[cfg(not(target_os = "linux"))]
pub(super) fn watch(_: &str, _: std::sync::Weak<dyn Touched>) -> Option<Watch> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn tell() {}
