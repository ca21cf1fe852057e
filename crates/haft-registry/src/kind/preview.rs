//! The effect of one call, for the person who is asked to approve it.
//!
//! A template such as `rm -- {path}` says what calls of a tool do; a person decides about one of them. A kind whose tools
//! reach the outside gives them a [`CallPreview`], which fills in the arguments with the code that calls themselves use, so
//! that what is shown is what will happen. It reads no secret: secrets are named.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use haft_core::Annotation;
use haft_schema::Issues;
use serde_json::{Map, Value};

/// The function from arguments to an effect.
type Preview = dyn Fn(&Map<String, Value>) -> Result<CallEffect, Issues> + Send + Sync;

/// A function from the arguments of a call to its effect, as an annotation of a tool. Descriptors do not contain it.
///
/// A program that asks a person to approve a call can show the effect: the context of an approver has the
/// [tool](haft_core::Cx::tool).
///
/// ```
/// use haft_core::Tool;
/// use haft_registry::{CallEffect, CallPreview};
/// use serde_json::json;
///
/// let preview = CallPreview::new(|arguments| {
///     let argv = vec!["ls".to_owned(), arguments["folder"].as_str().unwrap_or(".").to_owned()];
///     Ok(CallEffect::Starts { argv, folder: "/srv".into(), reads_arguments: false, secrets: Vec::new() })
/// });
/// let tool = Tool::dynamic("list").params_json(json!({"type": "object"})).annotate(preview);
/// let tool = tool.handler(|_: serde_json::Value, _cx| async {})?;
///
/// let preview = tool.annotations().get::<CallPreview>().unwrap();
/// let effect = preview.effect(json!({"folder": "a b"}).as_object().unwrap())?;
/// assert!(matches!(effect, CallEffect::Starts { argv, .. } if argv == ["ls", "a b"]));
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CallPreview(Arc<Preview>);

/// The effect of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEffect {
    /// The call starts a program.
    Starts {
        /// The program and its arguments.
        argv: Vec<String>,
        /// The working directory.
        folder: PathBuf,
        /// True if the program reads the arguments of the call from its standard input.
        reads_arguments: bool,
        /// The names of the secrets in the environment of the program.
        secrets: Vec<String>,
    },
    /// The call sends a request.
    Sends {
        /// The method.
        method: String,
        /// The URL with its query, without secrets.
        url: String,
        /// The headers without secrets, with the type of the body.
        headers: Vec<(String, String)>,
        /// The body; text that is not UTF-8 is shown as well as possible.
        body: Option<String>,
        /// The names of the secrets that are sent with the request.
        secrets: Vec<String>,
    },
}

impl CallPreview {
    /// Creates a preview.
    pub fn new(effect: impl Fn(&Map<String, Value>) -> Result<CallEffect, Issues> + Send + Sync + 'static) -> Self {
        Self(Arc::new(effect))
    }

    /// Returns the effect of a call with these arguments, or the reasons why the tool rejects them.
    pub fn effect(&self, arguments: &Map<String, Value>) -> Result<CallEffect, Issues> {
        (self.0)(arguments)
    }
}

impl Annotation for CallPreview {}

impl fmt::Debug for CallPreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallPreview").finish_non_exhaustive()
    }
}
