//! The refine step of a tool: a function that sees valid arguments first, and may reject or transform them.
//!
//! ```text
//! look up ─► permit ─► schema ─► refine ─► schema ─► permits_arguments ─► approve ─► slot ─► handler
//! ```
//!
//! A schema can't ask a database whether a customer exists. A refine function can, and it does so before anybody
//! decides about the call: what is permitted, digested, shown for approval and run are the refined arguments. They are
//! checked by the schema again, so it never passes anything to a handler that the schema forbids, and [resources] in them
//! are brought into canonical form again.
//!
//! [resources]: crate::Tool::canonical_argument

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use haft_core::ToolFailure;
use haft_schema::isolation::Isolated;
use haft_schema::{DecodeOptions, Decoded, Issue, Issues, JsonText};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cx::Cx;
use crate::handler::{BoxError, BoxFuture, broken, invalid_input, opaque_failure};
use crate::tool::Tool;

/// The error of a refine function.
///
/// An [`Issue`] or [`Issues`] become a rejection, and `?` converts every other [`Error`] into the opaque form.
///
/// ```
/// use haft_schema::Issue;
/// use haft_executor::RefineError;
///
/// fn port(text: &str) -> Result<u16, RefineError> {
///     let port: u16 = text.parse()?;
///     if port < 1024 { Err(Issue::new("/port", "refine", "must not be a system port").into()) } else { Ok(port) }
/// }
///
/// assert!(matches!(port("x"), Err(RefineError::Opaque(_))));
/// assert!(matches!(port("80"), Err(RefineError::Rejected(_))));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum RefineError {
    /// The arguments are rejected: the call fails with `input_validation_error`, and the model reads the issues.
    Rejected(Issues),
    /// Any other error, only for the operator: the call fails with `execution_error`. A [`ToolFailure`] is passed on
    /// unchanged, so that a function can choose its kind and message.
    Opaque(BoxError),
}

/// A refine function with its type erased.
#[derive(Clone)]
pub(crate) struct Refine(Arc<RefineFn>);

type RefineFn = dyn Fn(&Tool, &str, &DecodeOptions, Cx) -> Result<Decoded<RefineFuture>, Issues> + Send + Sync;

/// The refined arguments as text, or the failure of the call.
pub(crate) type RefineFuture = BoxFuture<Result<JsonText, ToolFailure>>;

/// A refine function that returned arguments which the tool's schema rejects.
#[derive(Debug, thiserror::Error)]
#[error("the refine function of `{tool}` returned arguments that the schema of its parameters rejects: {issues}")]
struct InvalidRefined {
    tool: String,
    #[source]
    issues: Issues,
}

impl RefineError {
    /// Creates a rejection with issues for the model.
    pub fn rejected(issues: impl Into<Issues>) -> Self {
        Self::Rejected(issues.into())
    }

    /// Creates an opaque error from any error or text.
    pub fn opaque(error: impl Into<BoxError>) -> Self {
        Self::Opaque(error.into())
    }

    fn into_failure(self) -> ToolFailure {
        match self {
            Self::Rejected(issues) => invalid_input(issues),
            Self::Opaque(error) => opaque_failure(error),
        }
    }
}

/// Errors become opaque, except an [`Issue`] and [`Issues`], which reject the arguments.
impl<E: Error + Send + Sync + 'static> From<E> for RefineError {
    fn from(error: E) -> Self {
        let error: BoxError = Box::new(error);
        let rejected = error.downcast::<Issues>().map(|issues| *issues);
        match rejected.or_else(|error| error.downcast::<Issue>().map(|issue| (*issue).into())) {
            Ok(issues) => Self::Rejected(issues),
            Err(error) => Self::Opaque(error),
        }
    }
}

impl Refine {
    pub(crate) fn new<A, E, F, Fut>(refine: F) -> Self
    where
        A: DeserializeOwned + Serialize + Send + 'static,
        E: Into<RefineError>,
        F: Fn(A, Cx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<A, E>> + Send + 'static,
    {
        let refine = Isolated::new(refine);
        Self(Arc::new(move |tool, arguments, options, cx| {
            let Decoded { value, repairs } = tool.parameters().decode_exactly::<A>(arguments, options)?;
            let (refined, tool, options) = (refine(value, cx), tool.clone(), *options);
            let encoded = async move {
                let refined = refined.await.map_err(|error| error.into().into_failure())?;
                let encoded = tool.parameters().encode_params(&refined);
                let canonical = encoded.and_then(|encoded| {
                    let canonical = tool.canonical_arguments(encoded.as_str(), &options)?;
                    Ok(canonical.map_or(encoded, |canonical| canonical.text))
                });
                canonical.map_err(|issues| invalid_refined(&tool, issues))
            };
            Ok(Decoded { value: Box::pin(encoded), repairs })
        }))
    }

    /// Reads the arguments by the tool's schema, and calls the function.
    pub(crate) fn start(
        &self,
        tool: &Tool,
        arguments: &str,
        options: &DecodeOptions,
        cx: Cx,
    ) -> Result<Decoded<RefineFuture>, Issues> {
        (self.0)(tool, arguments, options, cx)
    }
}

fn invalid_refined(tool: &Tool, issues: Issues) -> ToolFailure {
    broken(InvalidRefined { tool: tool.name().to_owned(), issues })
}

impl fmt::Debug for Refine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refine(..)")
    }
}
