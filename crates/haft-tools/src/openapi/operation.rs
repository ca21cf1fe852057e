//! A document's operations, in order.

use serde_json::{Map, Value};

use super::document::OpenApi;
use super::name::names;
use super::skip::{SkipReason, Skipped};

/// Operation methods, as path items name them.
const METHODS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/// An operation with everything that is known without looking into it.
#[derive(Clone, Debug)]
pub(super) struct Operation<'d> {
    /// Its tool's name, which no filter changes.
    pub(super) name: String,
    /// The method, in capitals.
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) item: &'d Map<String, Value>,
    pub(super) fields: &'d Map<String, Value>,
}

/// A document's operations, and its malformed path items and operations.
#[derive(Debug, Default)]
pub(super) struct Operations<'d> {
    pub(super) found: Vec<Operation<'d>>,
    pub(super) skipped: Vec<Skipped>,
}

impl<'d> Operation<'d> {
    /// Returns the method and the path.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    pub(super) fn text(&self, field: &str) -> Option<&'d str> {
        self.fields.get(field).and_then(Value::as_str)
    }

    pub(super) fn id(&self) -> Option<&'d str> {
        self.text("operationId")
    }

    pub(super) fn tags(&self) -> Vec<&'d str> {
        let tags = self.fields.get("tags").and_then(Value::as_array);
        tags.into_iter().flatten().filter_map(Value::as_str).collect()
    }
}

impl OpenApi {
    pub(super) fn operations(&self) -> Operations<'_> {
        let mut operations = Operations::default();
        let paths = self.root.get("paths").and_then(Value::as_object);
        for (path, item) in paths.into_iter().flatten().filter(|(path, _)| !path.starts_with("x-")) {
            match self.follow(item).map(Value::as_object) {
                Ok(Some(item)) => operations.add_item(path, item),
                Ok(None) => operations.skip(path.clone(), malformed("the path item")),
                Err(reason) => operations.skip(path.clone(), reason),
            }
        }
        let keys = operations.found.iter().map(|operation| (operation.id(), &*operation.method, operation.path));
        let named = names(keys);
        for (operation, name) in operations.found.iter_mut().zip(named) {
            operation.name = name;
        }
        operations
    }
}

impl<'d> Operations<'d> {
    fn add_item(&mut self, path: &'d str, item: &'d Map<String, Value>) {
        for (field, value) in item.iter().filter(|(field, _)| METHODS.contains(&field.as_str())) {
            let method = field.to_ascii_uppercase();
            match value.as_object() {
                Some(fields) => self.found.push(Operation { name: String::new(), method, path, item, fields }),
                None => self.skip(format!("{method} {path}"), malformed("the operation")),
            }
        }
    }

    fn skip(&mut self, operation: String, reason: SkipReason) {
        self.skipped.push(Skipped { operation, reason });
    }
}

fn malformed(part: &str) -> SkipReason {
    SkipReason::InvalidOperation { part: part.to_owned(), expected: "it must be an object" }
}
