//! How values of a raw schema are checked.
//!
//! Without the `validate` feature the two full modes don't exist: a program that asks for them doesn't compile, and
//! none is ever put in their place.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::issue::{Issue, Issues};

/// How values of a raw schema are checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Validation {
    /// By the schema, in full.
    #[cfg(feature = "validate")]
    Full,
    /// By a check of your own, instead of the schema's.
    With(Validator),
    /// By the schema, in full, then by a check of your own.
    #[cfg(feature = "validate")]
    FullThen(Validator),
    /// Not at all: the schema is shown to the model and the handler gets whatever JSON comes.
    None,
}

/// A check of your own.
///
/// ```
/// use haft_core::{Issue, Validator};
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
    /// A check by function. It gets the whole value, and gives every issue it finds.
    #[must_use]
    pub fn new(check: impl Fn(&Value) -> Result<(), Issues> + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn check(&self, value: &Value) -> Result<(), Issues> {
        (self.0)(value).map_err(|issues| {
            // A refusal without a reason is still a refusal, and gets one.
            let unsaid = || Issue::new("", "validator", "is refused by the tool's own check").into();
            if issues.is_empty() { unsaid() } else { issues }
        })
    }
}

impl fmt::Debug for Validator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Validator")
    }
}
