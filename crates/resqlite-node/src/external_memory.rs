//! The test that finds out whether JavaScript may see native memory.

use napi::{Env, sys};
use resqlite::binding::is_switched_on;

/// Returns whether JavaScript may see native memory. Finds out by trying, because Electron, for example, forbids it.
/// With `RESQLITE_COPY_RESULTS=1`, always returns `false`, so that copying can be tested, or used where something else
/// objects to such memory.
pub(crate) fn is_allowed(env: Env) -> bool {
    if is_switched_on("RESQLITE_COPY_RESULTS") {
        return false;
    }
    let mut word = Box::new(0u64);
    let (start, mut value) = ((&raw mut *word).cast(), std::ptr::null_mut());
    // SAFETY: the memory is leaked below if JavaScript got hold of it, so it outlives the array buffer.
    #[allow(unsafe_code)]
    let status = unsafe {
        sys::napi_create_external_arraybuffer(env.raw(), start, 8, None, std::ptr::null_mut(), &mut value)
    };
    let allowed = status == sys::Status::napi_ok;
    if allowed {
        Box::leak(word);
    }
    allowed
}
