//! Functions of a group of rows.
#![allow(unsafe_code)]

use std::{ffi::c_int, ptr};

use resqlite_sqlite_sys as ffi;

use super::{call::Call, function::Function};

/// The state of an aggregate function over one group of rows.
pub trait Aggregate {
    /// Adds a row.
    ///
    /// # Errors
    /// A message, which ends the statement.
    fn step(&mut self, call: &Call<'_>) -> Result<(), String>;

    /// Ends the group: sets the result. The call has no arguments.
    ///
    /// # Errors
    /// A message, which ends the statement.
    fn finish(&mut self, call: &Call<'_>) -> Result<(), String>;
}

pub(super) type Body = Box<dyn Fn() -> Box<dyn Aggregate>>;

/// The memory that SQLite keeps for a group, zeroed at first: the address of the group's state, or null before the first row.
type Slot = *mut Group;

enum Group {
    Runs(Box<dyn Aggregate>),
    /// A step failed or panicked, so the state may be broken.
    Failed,
}

pub(super) unsafe extern "C" fn step(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    arguments: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: SQLite calls this for functions that were registered with such a body, with valid arguments. The slot is
    // null if memory ran out, and otherwise belongs to this group alone.
    unsafe {
        let function = Function::<Body>::of(context);
        let call = Call::new(context, count, arguments);
        let slot = ffi::sqlite3_aggregate_context(context, size_of::<Slot>() as c_int).cast::<Slot>();
        let Some(slot) = slot.as_mut() else {
            return call.fail("out of memory");
        };
        if slot.is_null() {
            let started = function.run(&call, || Ok((function.body)()));
            *slot = Box::into_raw(Box::new(started.map_or(Group::Failed, Group::Runs)));
        }
        let group = &mut **slot;
        if let Group::Runs(state) = group
            && function.run(&call, || state.step(&call)).is_none()
        {
            *group = Group::Failed;
        }
    }
}

pub(super) unsafe extern "C" fn last(context: *mut ffi::sqlite3_context) {
    // SAFETY: as in `step`. SQLite ends each group once, even where the statement failed, so the state is freed here.
    unsafe {
        let function = Function::<Body>::of(context);
        let call = Call::new(context, 0, ptr::null_mut());
        let slot = ffi::sqlite3_aggregate_context(context, 0).cast::<Slot>();
        let group = slot.as_ref().copied().filter(|group| !group.is_null());
        let group = group.map(|group| Box::from_raw(group));
        function.run(&call, || match group.map(|group| *group) {
            Some(Group::Runs(mut state)) => state.finish(&call),
            Some(Group::Failed) => Ok(()),
            // The group has no rows.
            None => (function.body)().finish(&call),
        });
    }
}
