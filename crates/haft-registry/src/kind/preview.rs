//! A call's effect, for the person who is asked to approve it.
//!
//! A template such as `rm -- {path}` says what a tool's calls do, but a person decides about one of them. A kind whose
//! tools reach the outside gives them a [`CallPreview`]: the template, for people who look at the tool, and a function
//! that fills in the arguments with the same code as a call, for people who are asked to approve one. It reads no
//! secret: secrets are named.
//!
//! Approvers, `haft show` and `haft check` know tools only by this, so a new kind changes none of them.

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use haft_core::Annotation;
use haft_schema::{Issues, JsonText};

use super::command_line::command_line;

/// The function from arguments to an effect.
type Preview = dyn Fn(&JsonText) -> Result<CallEffect, Issues> + Send + Sync;

/// The effect of a tool's calls: with variables, and with a call's arguments. It is a tool annotation; descriptors do
/// not contain it.
///
/// If your program asks a person to approve a call, show the effect: an approver's context has the
/// [tool](haft_executor::Cx::tool).
///
/// ```
/// use haft_executor::Tool;
/// use haft_registry::{CallEffect, CallPreview};
/// use serde_json::json;
///
/// let list = |folder: &str| CallEffect::Starts {
///     argv: vec!["ls".to_owned(), folder.to_owned()],
///     folder: "/srv".into(),
///     reads_arguments: false,
///     secrets: Vec::new(),
/// };
/// let preview = CallPreview::new(list("{folder}"), move |arguments| {
///     Ok(list(arguments.to_value()["folder"].as_str().unwrap_or(".")))
/// });
/// let tool = Tool::dynamic("list").params_json(json!({"type": "object"})).annotate(preview);
/// let tool = tool.handler(|_: serde_json::Value, _cx| async {})?;
///
/// let preview = tool.annotations().get::<CallPreview>().unwrap();
/// assert_eq!(preview.template().facts()[0].text, "ls {folder}");
/// let effect = preview.effect(&json!({"folder": "a b"}).into())?;
/// let facts: Vec<String> = effect.facts().iter().map(|fact| format!("{}: {}", fact.label, fact.text)).collect();
/// assert_eq!(facts, ["runs: ls \"a b\"", "in: /srv"]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CallPreview {
    template: Arc<CallEffect>,
    effect: Arc<Preview>,
}

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
    /// The call does something else, in the kind's own words.
    Other {
        /// The facts that a person needs to decide. The first is the action, such as `calls` and `create_issue at
        /// https://example.com/mcp`.
        facts: Vec<EffectFact>,
        /// The folder that relative paths in the arguments refer to, if the call uses files.
        folder: Option<PathBuf>,
        /// The names of the secrets that the call uses.
        secrets: Vec<String>,
    },
}

/// A fact about a call's effect, such as `sends` and `GET https://example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EffectFact {
    /// The label: one short word.
    pub label: Cow<'static, str>,
    /// The text. It may contain anything that a model wrote, control characters too.
    pub text: String,
}

impl EffectFact {
    /// Creates a fact.
    pub fn new(label: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into() }
    }
}

impl CallEffect {
    /// Returns the effect as labelled texts for a person, the action first.
    #[must_use]
    pub fn facts(&self) -> Vec<EffectFact> {
        let (mut facts, secrets) = match self {
            Self::Starts { argv, folder, reads_arguments, secrets } => {
                let program = EffectFact::new("runs", command_line(argv.iter().map(String::as_str)));
                let stdin = reads_arguments.then(|| EffectFact::new("stdin", "the arguments, as JSON"));
                let folder = EffectFact::new("in", folder.display().to_string());
                ([program, folder].into_iter().chain(stdin).collect(), secrets)
            }
            Self::Sends { method, url, headers, body, secrets } => {
                let request = EffectFact::new("sends", format!("{method} {url}"));
                let headers = headers.iter().map(|(name, value)| EffectFact::new("header", format!("{name}: {value}")));
                let body = body.iter().map(|body| EffectFact::new("body", body));
                (std::iter::once(request).chain(headers).chain(body).collect(), secrets)
            }
            Self::Other { facts, secrets, .. } => (facts.clone(), secrets),
        };
        if !secrets.is_empty() {
            let names: Vec<String> = secrets.iter().map(|name| format!("`{name}`")).collect();
            facts.push(EffectFact::new("secrets", names.join(", ")));
        }
        facts
    }

    /// Returns the folder that relative paths in the arguments refer to, if the calls use files.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Starts { folder, .. } => Some(folder),
            Self::Sends { .. } => None,
            Self::Other { folder, .. } => folder.as_deref(),
        }
    }
}

impl CallPreview {
    /// Creates a preview from the effect with its variables, and a function that fills in a call's arguments.
    pub fn new(
        template: CallEffect,
        effect: impl Fn(&JsonText) -> Result<CallEffect, Issues> + Send + Sync + 'static,
    ) -> Self {
        Self { template: Arc::new(template), effect: Arc::new(effect) }
    }

    /// Returns the calls' effect with variables in place of arguments, such as `rm -- {path}`.
    #[must_use]
    pub fn template(&self) -> &CallEffect {
        &self.template
    }

    /// Returns a call's effect with these arguments, or the reasons why the tool rejects them.
    pub fn effect(&self, arguments: &JsonText) -> Result<CallEffect, Issues> {
        (self.effect)(arguments)
    }
}

impl Annotation for CallPreview {}

impl fmt::Debug for CallPreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallPreview").field("template", &self.template).finish_non_exhaustive()
    }
}
