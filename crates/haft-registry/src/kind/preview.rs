//! A call's effect, for the person who is asked to approve it.
//!
//! A template such as `rm -- {path}` says what a tool's calls do, but a person decides about one of them. A kind whose
//! tools reach the outside gives them a [`CallPreview`]. It fills in the arguments with the same code as a call, so
//! that people see what will happen. It reads no secret: secrets are named.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use haft_core::Annotation;
use haft_schema::Issues;
use serde_json::{Map, Value};

/// The function from arguments to an effect.
type Preview = dyn Fn(&Map<String, Value>) -> Result<CallEffect, Issues> + Send + Sync;

/// A function from a call's arguments to its effect, as a tool annotation. Descriptors do not contain it.
///
/// If your program asks a person to approve a call, show the effect: an approver's context has the
/// [tool](haft_executor::Cx::tool).
///
/// ```
/// use haft_executor::Tool;
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

/// A call's effect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CallEffect {
    /// The call starts a program.
    Starts {
        /// The program and its arguments.
        argv: Vec<String>,
        /// The working directory.
        folder: PathBuf,
        /// True if the program reads the call's arguments from its standard input.
        reads_arguments: bool,
        /// The names of the secrets in the program's environment.
        secrets: Vec<String>,
    },
    /// The call sends a request.
    Sends {
        /// The method.
        method: String,
        /// The URL with its query, without secrets.
        url: String,
        /// The headers without secrets, with the body's type.
        headers: Vec<(String, String)>,
        /// The body. Text that is not UTF-8 is shown as well as possible.
        body: Option<String>,
        /// The names of the secrets that the request contains.
        secrets: Vec<String>,
    },
}

impl CallPreview {
    /// Creates a preview.
    pub fn new(effect: impl Fn(&Map<String, Value>) -> Result<CallEffect, Issues> + Send + Sync + 'static) -> Self {
        Self(Arc::new(effect))
    }

    /// Returns a call's effect with these arguments, or the reasons why the tool rejects them.
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
