//! Extensions of SQLite in shared libraries.

use std::{env::consts::DLL_EXTENSION, fs, path::Path};

use resqlite_sqlite::Connection;

/// A shared library that every connection loads. See [`Options::extensions`](crate::Options::extensions).
///
/// ```
/// use resqlite::{Extension, Options};
///
/// let vectors = Extension::from("./vec0");
/// let named = Extension { entry_point: Some("sqlite3_vec_init".into()), ..vectors.clone() };
/// let options = Options { extensions: vec![named], ..Options::default() };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The file. The suffix of shared libraries (`.so`, `.dylib`, `.dll`) may be missing.
    pub path: String,
    /// The function that registers everything that the extension provides. `None` means the function that SQLite finds by the file's name.
    pub entry_point: Option<String>,
}

impl From<&str> for Extension {
    fn from(path: &str) -> Self {
        Self {
            path: path.into(),
            entry_point: None,
        }
    }
}

impl Extension {
    /// Returns the extension with its canonical path, equal for every spelling. The path is unchanged if there is no such file.
    pub(super) fn resolved(&self) -> Self {
        let with_suffix = format!("{}.{DLL_EXTENSION}", self.path);
        let found = [self.path.as_str(), &with_suffix]
            .iter()
            .filter(|path| Path::new(path).is_file())
            .find_map(|path| fs::canonicalize(path).ok()?.into_os_string().into_string().ok());
        Self {
            path: found.unwrap_or_else(|| self.path.clone()),
            entry_point: self.entry_point.clone(),
        }
    }

    /// Loads the extension into a connection.
    ///
    /// # Errors
    /// The reason why it could not be loaded, with its path.
    pub(crate) fn load(&self, connection: &Connection) -> Result<(), String> {
        let Self { path, entry_point } = self;
        // Without this check, the system would look for the file in other folders.
        if !Path::new(path).is_file() {
            return Err(format!("the extension \"{path}\" does not exist"));
        }
        connection
            .load_extension(path, entry_point.as_deref())
            .map_err(|error| format!("the extension \"{path}\" cannot be loaded: {}", error.message()))
    }
}
