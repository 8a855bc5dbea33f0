//! Images of rows, and the part of a row to decode.

use std::sync::{Arc, LazyLock};

use crate::{column_set::ColumnSet, row_names::RowNames, value::Value};

/// The values of some columns of one row, in the order of [`Watched::images`].
pub type Image = Box<[Value]>;

/// Returns the number of bytes that an image holds outside itself.
pub(crate) fn heap_bytes(image: &Image) -> usize {
    size_of_val(&**image) + image.iter().map(Value::heap_bytes).sum::<usize>()
}

/// The part of the changed rows of a table that is decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Watched {
    /// The columns that are compared, to see whether an UPDATE changed them.
    pub compared: ColumnSet,
    /// The columns whose values before and after the change are kept, in ascending order and without duplicates.
    /// [`ROWID`](crate::ROWID) may be the last.
    pub images: Box<[u16]>,
    /// The names of the columns, if commit events report rows.
    pub names: Option<Arc<RowNames>>,
}

impl Watched {
    /// Returns the part of a table of which nothing is decoded. It is shared, so that a table that no live query reads costs
    /// nothing.
    pub fn nothing() -> &'static Arc<Watched> {
        static NOTHING: LazyLock<Arc<Watched>> = LazyLock::new(Arc::default);
        &NOTHING
    }

    /// Returns the number of bytes of the value, with everything that it holds on the heap.
    pub(crate) fn weight(&self) -> usize {
        let names = self.names.as_deref().map_or(0, RowNames::weight);
        size_of::<Self>() + self.compared.heap_bytes() + size_of_val(&*self.images) + names
    }
}
