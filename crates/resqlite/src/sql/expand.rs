//! Finds the places at which a statement reads tables, from its text. Views and common table expressions are replaced by what they
//! select, and names by the columns that they mean.

use resqlite_live::TableName;
use resqlite_sqlite::Connection;

use super::{
    catalog::{Catalog, Found},
    constants::operands,
    module,
    natures::Natures,
    parse,
    plan::{ArmPlan, Equality, Fact, Outputs, Place, PlaceColumn, Plan, Rows, Stop, TermsPlan},
    scope::{Env, Scope},
    syntax::{Arm, CommonTable, Condition, Constant, Join, Relation, Select, Source, Terms},
    tables::{Kind, Table},
    templates::{Dropped, Template},
};

/// The largest number of places in a statement. The places in a view count once for each use of the view.
const PLACES_MAX: usize = 64;

/// Replaces names by what they mean.
pub(crate) struct Expander<'a> {
    connection: &'a Connection,
    catalog: &'a Catalog<'a>,
    tables: &'a [Table],
    natures: Natures<'a>,
    /// Common table expressions that are being expanded.
    expanding: Vec<*const CommonTable>,
    /// SELECTs that are being expanded.
    depth: usize,
    /// Conditions that are not used, each with its place.
    pub(super) dropped: Vec<(usize, Dropped)>,
}

impl<'a> Expander<'a> {
    pub(crate) fn new(connection: &'a Connection, catalog: &'a Catalog<'a>, tables: &'a [Table]) -> Self {
        Self {
            connection,
            catalog,
            tables,
            natures: Natures::new(connection, tables),
            expanding: Vec::new(),
            depth: 0,
            dropped: Vec::new(),
        }
    }

    /// Replaces the names in a whole statement.
    pub(crate) fn statement(&mut self, select: &Select) -> Result<Plan, Stop> {
        let nothing = Env {
            tables: &[],
            view: None,
            outer: None,
        };
        self.select(select, &nothing, None)
    }

    fn select(&mut self, select: &Select, env: &Env<'_>, outer: Option<&Scope<'_>>) -> Result<Plan, Stop> {
        if self.depth == parse::DEPTH_MAX {
            return Err(Stop::Refused(parse::TOO_DEEP));
        }
        self.depth += 1;
        let env = &Env {
            tables: &select.with,
            view: None,
            outer: Some(env),
        };
        let arms = select.arms.iter();
        let plan = Plan {
            arms: arms
                .map(|arm| self.arm(arm, env, outer))
                .collect::<Result<_, _>>()?,
            is_limited: select.is_limited,
            subqueries: self.subqueries(&select.subqueries, env, None)?,
        };
        self.depth -= 1;
        Ok(plan)
    }

    fn subqueries(
        &mut self,
        selects: &[Select],
        env: &Env<'_>,
        outer: Option<&Scope<'_>>,
    ) -> Result<Vec<Plan>, Stop> {
        let selects = selects.iter();
        selects.map(|select| self.select(select, env, outer)).collect()
    }

    fn arm(&mut self, arm: &Arm, env: &Env<'_>, outer: Option<&Scope<'_>>) -> Result<ArmPlan, Stop> {
        let mut places = Vec::new();
        for source in &arm.sources {
            places.push(self.place(source, env, outer)?);
        }
        let scope = Scope {
            tables: self.tables,
            places: &places,
            outputs: &arm.outputs,
            outer,
        };
        let mut terms = self.terms(&arm.terms, env, &scope)?;
        let mut of_places = Vec::new();
        for (position, source) in arm.sources.iter().enumerate() {
            let mut on = self.terms(&source.on, env, &scope)?;
            let merged = self.equalities(scope.merged(position))?;
            match source.join {
                // After a RIGHT join there are rows without partners.
                _ if scope.has_right() => {}
                Join::Left => on.equalities.extend(merged),
                Join::Inner | Join::Right => terms.equalities.extend(merged),
            }
            let arguments = match &source.relation {
                Relation::Function(_, arguments) => self.subqueries(arguments, env, Some(&scope))?,
                Relation::Named { .. } | Relation::Select(_) => Vec::new(),
            };
            of_places.push((on, arguments));
        }
        let subqueries = self.subqueries(&arm.subqueries, env, Some(&scope))?;
        let outputs = scope.results();
        let grouped = arm.grouped_by.as_ref();
        let grouped_by = grouped.map(|names| names.iter().filter_map(|name| scope.resolve(name)).collect());
        for (place, (on, arguments)) in places.iter_mut().zip(of_places) {
            place.on = on;
            if let Rows::Other(subqueries, _) = &mut place.rows {
                *subqueries = arguments;
            }
        }
        Ok(ArmPlan {
            places,
            terms,
            subqueries,
            outputs,
            grouped_by,
            has_window: arm.has_window,
            has_having: arm.has_having,
            functions: arm.functions.clone(),
        })
    }
    fn place(&mut self, source: &Source, env: &Env<'_>, outer: Option<&Scope<'_>>) -> Result<Place, Stop> {
        let (rows, name, schema) = match &source.relation {
            Relation::Select(select) => (query(self.select(select, env, outer)?, &[]), None, None),
            Relation::Function(name, _) => {
                let columns = module::columns_of_function(name);
                (Rows::Other(Vec::new(), columns), Some(name), None)
            }
            Relation::Named { schema, name } => {
                let (rows, schema) = self.named(schema.as_deref(), name, env)?;
                (rows, Some(name), schema)
            }
        };
        let number = self.natures.add(&rows);
        if number == PLACES_MAX {
            return Err(Stop::Refused("it reads tables at too many places"));
        }
        Ok(Place {
            number,
            rows,
            called: source.alias.clone().or_else(|| name.cloned()),
            schema,
            join: source.join,
            using: source.using.clone(),
            is_natural: source.is_natural,
            on: TermsPlan::default(),
        })
    }

    /// Returns the rows that a name in FROM stands for, and the schema in which the name was found.
    fn named(
        &mut self,
        schema: Option<&str>,
        name: &str,
        env: &Env<'_>,
    ) -> Result<(Rows, Option<String>), Stop> {
        if schema.is_none()
            && let Some((table, env)) = env.find(name)?
        {
            return Ok((self.common_table(table, env)?, None));
        }
        Ok(match self.catalog.find(schema.or_else(|| env.view()), name)? {
            Some(Found::View { schema, sql }) => (self.view(&schema, &sql, env)?, Some(schema)),
            Some(Found::Ordinary { name, .. }) => (self.table(&name)?, Some(name.schema().to_owned())),
            Some(Found::Virtual { name, .. }) => {
                let schema = name.schema().to_owned();
                (Rows::Other(Vec::new(), None), Some(schema))
            }
            Some(Found::Shadow) | None => (Rows::Other(Vec::new(), None), None),
        })
    }

    fn table(&self, name: &TableName) -> Result<Rows, Stop> {
        let is_it = |table: &Table| table.name == *name && matches!(table.kind, Kind::Ordinary(_));
        let position = self.tables.iter().position(is_it);
        position
            .map(Rows::Table)
            .ok_or(Stop::Refused("it names a table that it does not read"))
    }

    fn common_table(&mut self, table: &CommonTable, env: &Env<'_>) -> Result<Rows, Stop> {
        if self.expanding.contains(&std::ptr::from_ref(table)) {
            return Err(Stop::Refused("it has a recursive common table expression"));
        }
        self.expanding.push(table);
        let plan = self.select(&table.select, env, None)?;
        self.expanding.pop();
        Ok(query(plan, &table.columns))
    }

    fn view(&mut self, schema: &str, sql: &str, env: &Env<'_>) -> Result<Rows, Stop> {
        let view = parse::parse(sql).map_err(Stop::Refused)?;
        let inside = Env {
            tables: &[],
            view: Some(schema),
            outer: Some(env),
        };
        let plan = self.select(&view.select, &inside, None)?;
        Ok(query(plan, &view.columns))
    }

    fn terms(&mut self, terms: &Terms, env: &Env<'_>, scope: &Scope<'_>) -> Result<TermsPlan, Stop> {
        let mut facts = Vec::new();
        for condition in &terms.conditions {
            facts.extend(self.fact(condition, scope)?);
        }
        let ends = terms.equalities.iter().filter_map(|(left, right)| {
            let ends = (scope.resolve(left)?, scope.resolve(right)?);
            Some(ends)
        });
        Ok(TermsPlan {
            facts,
            equalities: self.equalities(ends)?,
            subqueries: self.subqueries(&terms.subqueries, env, Some(scope))?,
        })
    }

    fn fact(&mut self, condition: &Condition, scope: &Scope<'_>) -> Result<Option<Fact>, Stop> {
        let Some(column) = scope.resolve(&condition.column) else {
            return Ok(None);
        };
        let why = match self.natures.of(column)? {
            Err(why) => why,
            Ok(_) if self.has_other_elements(condition)? => "it is compared with something that is no value",
            Ok(nature) => match operands(self.connection, &condition.operands)? {
                None => "it is compared with something that is no value",
                Some(operands) => {
                    let template = Template {
                        column: column.index,
                        affinity: nature.affinity,
                        comparison: condition.comparison,
                        operands,
                    };
                    let place = column.place;
                    return Ok(Some(Fact { place, template }));
                }
            },
        };
        let dropped = Dropped {
            column: condition.column.column.clone(),
            why,
        };
        self.dropped.push((column.place, dropped));
        Ok(None)
    }

    /// Returns whether the operands are elements of an array, but a table or view is called `json_each`, like the function that
    /// lists them.
    fn has_other_elements(&self, condition: &Condition) -> Result<bool, Stop> {
        let is_elements = |operand: &Constant| matches!(operand, Constant::ElementsOf(_));
        let has_elements = condition.operands.iter().any(is_elements);
        Ok(has_elements && self.catalog.find(None, "json_each")?.is_some())
    }

    /// Returns the equalities by which the value of one column determines the value of another.
    fn equalities(
        &self,
        pairs: impl IntoIterator<Item = (PlaceColumn, PlaceColumn)>,
    ) -> Result<Vec<Equality>, Stop> {
        let mut equalities = Vec::new();
        for (left, right) in pairs {
            let (Ok(one), Ok(other)) = (self.natures.of(left)?, self.natures.of(right)?) else {
                continue;
            };
            let affinity = one.affinity.with(other.affinity);
            equalities.extend(
                affinity
                    .filter(|_| one.joins && other.joins)
                    .map(|affinity| Equality {
                        left,
                        right,
                        affinity,
                    }),
            );
        }
        Ok(equalities)
    }
}

/// Returns the rows of a query, whose columns may have other names outside the query.
fn query(plan: Plan, names: &[String]) -> Rows {
    let outputs = plan
        .arms
        .first()
        .map_or_else(Outputs::default, |arm| arm.outputs.renamed(names));
    Rows::Query(plan, outputs)
}
