//! The modes in which values of a raw schema are checked.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::issue::{Issue, Issues};

/// The mode in which values of a raw schema are checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Validation {
    /// The schema is enforced in full.
    Full,
    /// A custom validator replaces the check by the schema.
    With(Validator),
    /// The schema is enforced in full, followed by a custom validator.
    FullThen(Validator),
    /// Nothing is checked: the schema is shown to the model, and the handler receives any JSON that it sends.
    None,
}

/// A custom check of values.
///
/// ```
/// use haft_schema::{Issue, Validator};
///
/// let even = Validator::new(|value| match value.as_u64() {
///     Some(number) if number % 2 == 0 => Ok(()),
///     _ => Err(Issue::new("", "even", "must be an even number").into()),
/// });
/// ```
#[derive(Clone)]
pub struct Validator(Arc<ValidatorFn>);

type ValidatorFn = dyn Fn(&Value) -> Result<(), Issues> + Send + Sync;

impl Validator {
    /// Creates a validator from a function. It receives the whole value, and returns every issue it finds.
    #[must_use]
    pub fn new(check: impl Fn(&Value) -> Result<(), Issues> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Issues> {
        (self.0)(value).map_err(|issues| {
            // A rejection without an issue is still a rejection, and gets a generic one.
            let unexplained = || Issue::new("", "validator", "is rejected by the tool's own check").into();
            if issues.is_empty() { unexplained() } else { issues }
        })
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validator")
    }
}
