//! Threads that let others go first.

/// Makes the calling thread get less of a processor that others want, too: by a Unix "nice" value, from 0 (like all
/// others) to 19. Where threads cannot be told apart that way (anything but Linux), nothing happens.
pub(super) fn stand_back(nice: i32) {
    #[cfg(target_os = "linux")]
    if nice > 0 {
        // It is only a wish: whoever may not have it works like all others.
        let _ = rustix::process::setpriority_process(None, nice);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = nice;
}
