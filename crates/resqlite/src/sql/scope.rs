//! Finds the place, and its column, that a name means.

use super::{
    names::is_rowid,
    plan::{OutputColumn, Outputs, Place, PlaceColumn, Rows, Stop},
    syntax::{ColumnName, CommonTable, Join, Output},
    tables::{Kind, Table},
};

/// The common table expressions that a name in FROM can mean, and the outer ones around them.
#[derive(Clone, Copy)]
pub(crate) struct Env<'e> {
    pub(crate) tables: &'e [CommonTable],
    /// The schema of the view, inside the text of a view. The text does not see the common table expressions outside.
    pub(crate) view: Option<&'e str>,
    pub(crate) outer: Option<&'e Env<'e>>,
}

impl<'e> Env<'e> {
    /// Finds the common table expression of a name, and its environment.
    pub(crate) fn find(&'e self, name: &str) -> Result<Option<(&'e CommonTable, &'e Self)>, Stop> {
        let (mut env, mut is_outside) = (self, false);
        loop {
            let is_it = |table: &&CommonTable| table.name.eq_ignore_ascii_case(name);
            match env.tables.iter().find(is_it) {
                Some(_) if is_outside => {
                    return Err(Stop::Refused(
                        "a view names a table as the statement names another",
                    ));
                }
                Some(table) => return Ok(Some((table, env))),
                None => {}
            }
            is_outside |= env.view.is_some();
            match env.outer {
                Some(outer) => env = outer,
                None => return Ok(None),
            }
        }
    }

    /// The schema in which a view looks for tables.
    pub(crate) fn view(&self) -> Option<&'e str> {
        self.view.or_else(|| self.outer?.view())
    }
}

/// The places whose columns a name can mean, and the outer places around them.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'s> {
    pub(crate) tables: &'s [Table],
    pub(crate) places: &'s [Place],
    pub(crate) outputs: &'s [Output],
    pub(crate) outer: Option<&'s Scope<'s>>,
}

/// The result of looking up the name of a column at one place.
pub(crate) enum Lookup {
    Here(u16),
    Absent,
    /// The place may have such a column.
    Unknown,
}

impl Scope<'_> {
    /// Finds the column that a name means. Returns `None` if it means no column, several, or something unknown.
    pub(crate) fn resolve(&self, name: &ColumnName) -> Option<PlaceColumn> {
        let mut found: Option<PlaceColumn> = None;
        for place in self.places.iter().filter(|place| place.is_called(name)) {
            match (place.lookup(&name.column, self.tables), found) {
                (Lookup::Absent, _) => {}
                (Lookup::Here(index), None) => found = Some(place.column(index)),
                // USING joins two columns into one. With RIGHT, its value comes sometimes from one of them and sometimes from the
                // other.
                (Lookup::Here(_), Some(_)) if self.merges(place, &name.column) && !self.has_right() => {}
                (Lookup::Here(_) | Lookup::Unknown, _) => return None,
            }
        }
        if found.is_some() {
            let is_merged = |place: &Place| name.table.is_none() && self.merges(place, &name.column);
            return found.filter(|_| !self.has_right() || !self.places.iter().any(is_merged));
        }
        let is_alias = |output: &Output| output.is_called(&name.column);
        let is_taken = is_rowid(&name.column) || (name.table.is_none() && self.outputs.iter().any(is_alias));
        self.outer.filter(|_| !is_taken)?.resolve(name)
    }

    pub(super) fn has_right(&self) -> bool {
        self.places.iter().any(|place| place.join == Join::Right)
    }

    /// Returns whether the column of the place is merged with a column of an earlier place.
    fn merges(&self, place: &Place, column: &str) -> bool {
        place.is_natural || place.using.iter().any(|name| name.eq_ignore_ascii_case(column))
    }

    /// The pairs of columns that USING or NATURAL makes equal at the place of this position.
    pub(super) fn merged(&self, position: usize) -> Vec<(PlaceColumn, PlaceColumn)> {
        let (place, before) = (&self.places[position], &self.places[..position]);
        let names: Vec<&str> = match &place.rows {
            Rows::Table(table) if place.is_natural => columns(&self.tables[*table]).collect(),
            Rows::Query(_, outputs) if place.is_natural => {
                let names = outputs.columns.iter().map(|output| output.name.as_deref());
                names.flatten().collect()
            }
            _ => place.using.iter().map(String::as_str).collect(),
        };
        let pair = |name: &&str| {
            let Lookup::Here(right) = place.lookup(name, self.tables) else {
                return None;
            };
            for other in before {
                match other.lookup(name, self.tables) {
                    Lookup::Here(left) => return Some((other.column(left), place.column(right))),
                    Lookup::Absent => {}
                    Lookup::Unknown => return None,
                }
            }
            None
        };
        names.iter().filter_map(pair).collect()
    }

    /// The columns of the result.
    pub(crate) fn results(&self) -> Outputs {
        let mut all = Outputs::default();
        for output in self.outputs {
            match output {
                Output::Expression(name) => all.columns.push(OutputColumn {
                    name: name.clone(),
                    column: None,
                }),
                Output::Column(name, alias) => all.columns.push(OutputColumn {
                    name: (!output.is_named_by_sqlite())
                        .then(|| alias.as_ref().unwrap_or(&name.column).clone()),
                    column: self.resolve(name),
                }),
                Output::Star(of) => self.star(of.as_deref(), &mut all),
            }
            if all.is_open {
                break;
            }
        }
        all
    }

    fn star(&self, of: Option<&str>, all: &mut Outputs) {
        // Merged columns appear only once.
        let is_merged = |place: &Place| place.is_natural || !place.using.is_empty();
        if self.places.iter().any(is_merged) {
            all.is_open = true;
            return;
        }
        let is_meant = |place: &&Place| {
            let called = place.called.as_deref();
            of.is_none_or(|of| called.is_some_and(|called| called.eq_ignore_ascii_case(of)))
        };
        for place in self.places.iter().filter(is_meant) {
            all.is_open |= match &place.rows {
                Rows::Table(_) => false,
                Rows::Query(_, outputs) => outputs.is_open,
                Rows::Other(..) => true,
            };
            let names = place.column_names(self.tables);
            all.columns
                .extend((0..).zip(names).map(|(index, name)| OutputColumn {
                    name: name.map(str::to_owned),
                    column: Some(place.column(index)),
                }));
            if all.is_open {
                return;
            }
        }
    }
}

impl Place {
    pub(crate) fn lookup(&self, name: &str, tables: &[Table]) -> Lookup {
        let here = |position: Option<usize>| match position.map(u16::try_from) {
            Some(Ok(index)) => Lookup::Here(index),
            Some(Err(_)) => Lookup::Unknown,
            None => Lookup::Absent,
        };
        match &self.rows {
            Rows::Table(position) => {
                let mut columns = columns(&tables[*position]);
                here(columns.position(|column| column.eq_ignore_ascii_case(name)))
            }
            Rows::Query(_, outputs) => outputs.lookup(name).map_or(Lookup::Unknown, here),
            Rows::Other(_, Some(names)) if !names.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
                Lookup::Absent
            }
            Rows::Other(..) => Lookup::Unknown,
        }
    }

    /// Returns the columns of the place, each with its name if the name is known; none for a table-valued function.
    pub(crate) fn column_names<'a>(&'a self, tables: &'a [Table]) -> Vec<Option<&'a str>> {
        match &self.rows {
            Rows::Table(position) => columns(&tables[*position]).map(Some).collect(),
            Rows::Query(_, outputs) => {
                let columns = outputs.columns.iter();
                columns.map(|column| column.name.as_deref()).collect()
            }
            Rows::Other(..) => Vec::new(),
        }
    }

    pub(crate) fn column(&self, index: u16) -> PlaceColumn {
        PlaceColumn {
            place: self.number,
            index,
        }
    }

    /// Returns whether a name with this qualification can mean a column here.
    fn is_called(&self, name: &ColumnName) -> bool {
        let is = |own: &Option<String>, wanted: &Option<String>| match (own, wanted) {
            (_, None) => true,
            (Some(own), Some(wanted)) => own.eq_ignore_ascii_case(wanted),
            (None, Some(_)) => false,
        };
        is(&self.called, &name.table) && is(&self.schema, &name.schema)
    }
}

impl Outputs {
    /// Returns the position of a name, or `Some(None)` if there is no such name; `None` if this is not known.
    fn lookup(&self, name: &str) -> Option<Option<usize>> {
        // SQLite distinguishes columns of the same name by `:` and a number.
        if name.contains(':') {
            return None;
        }
        for (position, output) in self.columns.iter().enumerate() {
            if output.name.as_ref()?.eq_ignore_ascii_case(name) {
                return Some(Some(position));
            }
        }
        (!self.is_open).then_some(None)
    }

    /// Returns the same columns under the names in `names`, or under their own if `names` is empty.
    pub(crate) fn renamed(&self, names: &[String]) -> Self {
        let mut renamed = self.clone();
        if names.is_empty() {
            return renamed;
        }
        renamed.columns.truncate(names.len());
        for (output, name) in renamed.columns.iter_mut().zip(names) {
            output.name = Some(name.clone());
        }
        renamed.is_open = renamed.columns.len() < names.len();
        renamed
    }
}

fn columns(table: &Table) -> impl Iterator<Item = &str> {
    let columns = match &table.kind {
        Kind::Ordinary(columns) => &columns[..],
        Kind::Virtual => &[],
    };
    columns.iter().map(|column| column.name.as_str())
}
