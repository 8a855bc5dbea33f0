//! Images of rows, and what is asked of a table.

use std::sync::{Arc, LazyLock};

use crate::{column_set::ColumnSet, value::Value};

/// Values of the asked columns of one row, in the order of [`Watched::images`].
pub type Image = Box<[Value]>;

/// Bytes that an image holds outside itself.
pub(crate) fn heap_bytes(image: &Image) -> usize {
    size_of_val(&**image) + image.iter().map(Value::heap_bytes).sum::<usize>()
}

/// How far changes of a table are decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Watched {
    /// Columns of which is told whether an UPDATE changed them.
    pub compared: ColumnSet,
    /// Columns whose values are kept, before and after; ascending, no duplicates.
    pub images: Box<[u16]>,
}

impl Watched {
    /// Nothing is asked. Shared, so that a table for which nobody asks costs nothing.
    pub fn nothing() -> &'static Arc<Watched> {
        static NOTHING: LazyLock<Arc<Watched>> = LazyLock::new(Arc::default);
        &NOTHING
    }

    /// Bytes with all that is held.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Self>() + self.compared.heap_bytes() + size_of_val(&*self.images)
    }
}
