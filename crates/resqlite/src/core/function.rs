//! SQL functions that a program provides.

use std::{fmt, sync::Arc};

use resqlite_sqlite::{Call, Connection, Signature, ValueRef};
use smallvec::SmallVec;

use super::value::Value;

/// A SQL function written in Rust, for [`Options::register_function`](crate::Options::register_function).
///
/// Every connection has the function, so several threads may call it at once. It must not wait: while it runs, its thread serves nobody
/// else, and neither an abort nor a limit can interrupt it. If it fails or panics, the statement that called it fails with an error.
///
/// Declare the properties of the function. Without [`deterministic`](Self::deterministic), a live query that uses the function runs again
/// after each commit. Without [`innocuous`](Self::innocuous), views, triggers, CHECKs, defaults and indexes cannot use the function
/// unless the schema is trusted.
///
/// ```
/// use resqlite::{Database, Function, Options, Value, ValueRef};
///
/// # fn main() -> resqlite::Result<()> {
/// let shout = Function::scalar("shout", Some(1), |arguments| match arguments[0] {
///     ValueRef::Text(text) => Ok(String::from_utf8_lossy(text).to_uppercase().into()),
///     ValueRef::Null => Ok(Value::Null),
///     _ => Err("it needs a text".into()),
/// });
/// let options = Options::default().register_function(shout.deterministic());
/// pollster::block_on(async {
///     let db = Database::open(":memory:", options).await?;
///     let rows = db.select("SELECT shout('hello')", ()).await?;
///     assert_eq!(rows.iter().next().unwrap().values(), ["HELLO".into()]);
///     db.close().await
/// })
/// # }
/// ```
#[derive(Clone)]
pub struct Function {
    signature: Signature,
    body: Body,
}

type Scalar = dyn Fn(&[ValueRef<'_>]) -> Result<Value, String> + Send + Sync;
type Start = dyn Fn() -> Box<dyn Aggregate> + Send + Sync;

#[derive(Clone)]
enum Body {
    Scalar(Arc<Scalar>),
    Aggregate(Arc<Start>),
}

/// The state of an aggregate function over one group of rows.
///
/// ```
/// use resqlite::{Aggregate, Function, Value, ValueRef};
///
/// #[derive(Default)]
/// struct Product(f64);
///
/// impl Aggregate for Product {
///     fn step(&mut self, arguments: &[ValueRef<'_>]) -> Result<(), String> {
///         if let ValueRef::Real(factor) = arguments[0] {
///             self.0 *= factor;
///         }
///         Ok(())
///     }
///
///     fn finish(&mut self) -> Result<Value, String> {
///         Ok(self.0.into())
///     }
/// }
///
/// let product = Function::aggregate("product", Some(1), || Product(1.0)).deterministic();
/// # let _ = product;
/// ```
pub trait Aggregate {
    /// Adds a row of the group.
    ///
    /// # Errors
    /// A message for the error of the statement.
    fn step(&mut self, arguments: &[ValueRef<'_>]) -> Result<(), String>;

    /// Returns the result. A group without rows has no steps.
    ///
    /// # Errors
    /// A message for the error of the statement.
    fn finish(&mut self) -> Result<Value, String>;
}

impl Function {
    /// Makes a function of one row. `arguments` is the number of its arguments; `None` means any number. The function replaces a function
    /// of SQLite with that name and number of arguments.
    pub fn scalar(
        name: impl Into<String>,
        arguments: Option<u8>,
        function: impl Fn(&[ValueRef<'_>]) -> Result<Value, String> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name.into(), arguments, Body::Scalar(Arc::new(function)))
    }

    /// Makes a function of a group of rows, such as `sum`. `start` makes the state of a group. The function cannot be a window function.
    pub fn aggregate<A: Aggregate + 'static>(
        name: impl Into<String>,
        arguments: Option<u8>,
        start: impl Fn() -> A + Send + Sync + 'static,
    ) -> Self {
        let start = move || Box::new(start()) as Box<dyn Aggregate>;
        Self::new(name.into(), arguments, Body::Aggregate(Arc::new(start)))
    }

    fn new(name: String, arguments: Option<u8>, body: Body) -> Self {
        let signature = Signature {
            name,
            arguments,
            deterministic: false,
            innocuous: false,
        };
        Self { signature, body }
    }

    /// Promises that the same arguments always give the same result. Indexes and generated columns need this promise. Live queries that
    /// use the function then run again only when a row has changed.
    pub fn deterministic(mut self) -> Self {
        self.signature.deterministic = true;
        self
    }

    /// Declares that the function does no harm: views, triggers, CHECKs, defaults and indexes may use it, whoever wrote the file.
    pub fn innocuous(mut self) -> Self {
        self.signature.innocuous = true;
        self
    }

    /// Returns the reason why the function cannot be registered, if there is one.
    pub(super) fn problem(&self) -> Option<String> {
        let Signature { name, arguments, .. } = &self.signature;
        if name.is_empty() || name.len() > NAME_MAX || name.contains('\0') {
            return Some(format!("{name:?} is no name of a function"));
        }
        let too_many = arguments.filter(|&count| count > ARGUMENTS_MAX)?;
        Some(format!(
            "{name} takes {too_many} arguments; at most {ARGUMENTS_MAX} are possible"
        ))
    }

    /// Makes the function known to a connection.
    pub(crate) fn register(&self, connection: &Connection) -> resqlite_sqlite::Result<()> {
        match &self.body {
            Body::Scalar(function) => {
                let function = Arc::clone(function);
                connection.create_function(self.signature.clone(), move |call| {
                    answer(call, function(&arguments(call)))
                })
            }
            Body::Aggregate(start) => {
                let start = Arc::clone(start);
                connection.create_aggregate(self.signature.clone(), move || Box::new(Group(start())))
            }
        }
    }
}

/// SQLite's own bounds.
const NAME_MAX: usize = 255;
const ARGUMENTS_MAX: u8 = 127;

struct Group(Box<dyn Aggregate>);

impl resqlite_sqlite::Aggregate for Group {
    fn step(&mut self, call: &Call<'_>) -> Result<(), String> {
        self.0.step(&arguments(call))
    }

    fn finish(&mut self, call: &Call<'_>) -> Result<(), String> {
        answer(call, self.0.finish())
    }
}

fn arguments<'a>(call: &Call<'a>) -> SmallVec<[ValueRef<'a>; 8]> {
    call.arguments().collect()
}

fn answer(call: &Call<'_>, result: Result<Value, String>) -> Result<(), String> {
    call.set((&result?).into());
    Ok(())
}

/// Two functions are the same if one is a copy of the other.
impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        let same_body = match (&self.body, &other.body) {
            (Body::Scalar(ours), Body::Scalar(theirs)) => Arc::ptr_eq(ours, theirs),
            (Body::Aggregate(ours), Body::Aggregate(theirs)) => Arc::ptr_eq(ours, theirs),
            _ => false,
        };
        same_body && self.signature == other.signature
    }
}

impl Eq for Function {}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Function").field(&self.signature).finish()
    }
}
