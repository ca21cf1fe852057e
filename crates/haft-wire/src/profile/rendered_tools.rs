//! The tools of a request in the form of one wire, and the way back from what the model sends.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use haft_core::{Secret, ToolCall, ToolChoice};
use haft_schema::{Codec, CodecError, Issue};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::profile::finding::{Finding, FindingKind};
use crate::profile::tool_form::{ListedTool, ToolForm};
use crate::profile::tool_name::NameRule;
use crate::wire_error::RequestError;

/// The member of `provider_data` that holds the arguments as the model wrote them, if they differ from the decoded ones.
const WRITTEN_ARGUMENTS: &str = "arguments";

/// The name on the wire of a call without a name, which a model may make and which no provider accepts back. No name has
/// this form when it is encoded.
const NO_NAME: &str = "_x5F_empty";

/// The tools of a request in the form of one wire.
///
/// A wire sends [`raw_list`](RenderedTools::raw_list), translates names with [`wire_name`](RenderedTools::wire_name) and
/// [`tool_name`](RenderedTools::tool_name), and the arguments of a history with [`encode`](RenderedTools::encode). Those of
/// an answer are converted back by a [`TurnBuilder`](crate::TurnBuilder).
pub struct RenderedTools {
    provider: Cow<'static, str>,
    tools: Vec<RenderedTool>,
    by_name: HashMap<String, usize>,
    by_wire_name: HashMap<String, usize>,
    names: NameRule,
    form: Arc<dyn ToolForm>,
    list: Box<RawValue>,
    /// The list with the secrets in place, if there are any. Never shown.
    opened_list: Option<Box<RawValue>>,
    findings: Vec<Finding>,
}

/// One tool in the form of a wire.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenderedTool {
    /// The name of the tool.
    pub name: String,
    /// The name on the wire.
    pub wire_name: String,
    /// The tool as JSON text, with its secrets sealed.
    pub json: String,
    /// The mode.
    pub mode: ToolMode,
    /// The conversion of arguments.
    pub codec: Codec,
    /// The feature in preview that the tool requires, in the provider's notation.
    pub beta: Option<String>,
    /// The namespace that the tool is sent in.
    pub namespace: Option<Arc<ToolNamespace>>,
    /// Set if programs at the provider may call the tool.
    pub called_by_programs: bool,
    /// The JSON text with its secrets in place, if there are any.
    pub(crate) opened_json: Option<Secret>,
    /// The JSON text that the request contains beside the tool, with its secrets in place; see
    /// [`ProviderToolJson::beside`](crate::ProviderToolJson::beside).
    pub(crate) beside: Option<Secret>,
    /// The secrets of both.
    pub(crate) secrets: Vec<Secret>,
}

/// A group of tools that is sent as one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolNamespace {
    /// The name on the wire.
    pub name: String,
    /// The description, which is all that a model reads about tools that it has to search for.
    pub description: String,
}

/// The mode in which a tool is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolMode {
    /// A function whose schema the provider enforces.
    Strict,
    /// A function whose schema informs the model.
    Plain,
    /// A tool that is built into the provider.
    BuiltIn,
}

impl RenderedTools {
    pub(crate) fn new(
        provider: Cow<'static, str>,
        tools: Vec<RenderedTool>,
        names: NameRule,
        form: Arc<dyn ToolForm>,
        findings: Vec<Finding>,
    ) -> Self {
        let by_name = tools.iter().enumerate().map(|(at, tool)| (tool.name.clone(), at)).collect();
        let by_wire_name = tools.iter().enumerate().map(|(at, tool)| (tool.wire_name.clone(), at)).collect();
        let list = raw(&form.list(&mut tools.iter().map(RenderedTool::shown)));
        let has_secrets = tools.iter().any(|tool| tool.opened_json.is_some());
        let opened_list = has_secrets.then(|| raw(&form.list(&mut tools.iter().map(RenderedTool::listed))));
        Self { provider, tools, by_name, by_wire_name, names, form, list, opened_list, findings }
    }

    /// Returns the list of tools as JSON text, to be shown: the secrets of settings are sealed in it. See
    /// [`raw_list`](Self::raw_list) for the list to send.
    #[must_use]
    pub fn list(&self) -> &str {
        self.list.get()
    }

    /// Returns the list of tools to send, to be written into a larger document without reading it again. It contains the
    /// secrets of settings. See [`is_empty`](Self::is_empty): many providers reject an empty list.
    #[must_use]
    pub fn raw_list(&self) -> &RawValue {
        self.opened_list.as_deref().unwrap_or(&self.list)
    }

    /// Returns the secrets in the list that is sent, which must not be shown: some providers quote what they reject.
    #[must_use]
    pub fn secrets(&self) -> Vec<Secret> {
        self.tools.iter().flat_map(|tool| tool.secrets.iter().cloned()).collect()
    }

    /// Returns the list of the tools that a choice permits, to send.
    #[must_use]
    pub fn list_permitted(&self, choice: &ToolChoice) -> Cow<'_, str> {
        match self.raw_permitted(choice) {
            Cow::Borrowed(list) => Cow::Borrowed(list.get()),
            Cow::Owned(list) => Cow::Owned(list.get().to_owned()),
        }
    }

    /// Returns the list of the tools that a choice permits, as a value that is written as it is.
    pub(crate) fn raw_permitted(&self, choice: &ToolChoice) -> Cow<'_, RawValue> {
        if self.tools.iter().all(|tool| choice.permits(&tool.name)) {
            return Cow::Borrowed(self.raw_list());
        }
        let permitted = self.tools.iter().filter(|tool| choice.permits(&tool.name));
        Cow::Owned(raw(&self.form.list(&mut permitted.map(RenderedTool::listed))))
    }

    /// Returns the list of all tools side by side, without namespaces.
    pub(crate) fn raw_flat(&self) -> Cow<'_, RawValue> {
        if self.tools.iter().all(|tool| tool.namespace.is_none()) {
            return Cow::Borrowed(self.raw_list());
        }
        let flat = |tool| ListedTool { namespace: None, ..RenderedTool::listed(tool) };
        Cow::Owned(raw(&self.form.list(&mut self.tools.iter().map(flat))))
    }

    /// Fails if a tool can't be sent as it must be: strict, or with a secret that only another process can open. A wire
    /// that writes requests calls it: the provider would not do what the author of the tool relies on.
    pub fn ensure_sendable(&self) -> Result<(), RequestError> {
        let is_unmet = |kind| matches!(kind, FindingKind::StrictUnmet | FindingKind::SealedSecret);
        let mut unmet = self.findings.iter().filter(|finding| is_unmet(finding.kind)).peekable();
        if unmet.peek().is_none() {
            return Ok(());
        }
        let message = unmet.map(ToString::to_string).collect::<Vec<_>>().join("\n");
        Err(RequestError::Invalid { param: "tools".to_owned(), message })
    }

    /// Reports whether no tool is sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// Iterates over the tools that are sent, in their order.
    pub fn iter(&self) -> std::slice::Iter<'_, RenderedTool> {
        self.tools.iter()
    }

    /// Returns a tool that is sent, by its own name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RenderedTool> {
        self.by_name.get(name).and_then(|at| self.tools.get(*at))
    }

    /// Returns a tool that is sent, by its name on the wire.
    #[must_use]
    pub fn get_by_wire_name(&self, wire_name: &str) -> Option<&RenderedTool> {
        self.by_wire_name.get(wire_name).and_then(|at| self.tools.get(*at))
    }

    /// Returns everything that was found about the tools, also about those that are left out.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the name of a tool on the wire, also of a tool that is not among these.
    #[must_use]
    pub fn wire_name<'n>(&'n self, name: &'n str) -> Cow<'n, str> {
        match self.get(name) {
            Some(tool) => Cow::Borrowed(&tool.wire_name),
            None if name.is_empty() => Cow::Borrowed(NO_NAME),
            None => self.names.encode(name),
        }
    }

    /// Returns the name of the tool that the model called. A name that stands for no tool is decoded, or returned as it
    /// is, so that the call is answered as one of an unknown tool.
    #[must_use]
    pub fn tool_name<'n>(&'n self, wire_name: &'n str) -> Cow<'n, str> {
        match self.get_by_wire_name(wire_name) {
            Some(tool) => Cow::Borrowed(&tool.name),
            None => self.names.decode(wire_name).map_or(Cow::Borrowed(wire_name), Cow::Owned),
        }
    }

    /// Converts the arguments of a call to the shape of the tool's schema, and keeps them as the model wrote them in the
    /// provider's data of the call. Arguments that can't be converted stay as they are, with the reason: they may have
    /// the tool's shape already, and if not, the model reads what is wrong with the shape that it was asked for.
    pub(crate) fn decode_call(&self, call: &mut ToolCall) {
        let Some(tool) = self.get(&call.name) else { return };
        let decoded = match tool.codec.decode(&call.arguments) {
            Ok(Cow::Owned(decoded)) if decoded != call.arguments => decoded,
            Ok(_) => return,
            Err(error) => {
                call.argument_issue = argument_issue(error).map(Box::new);
                return;
            }
        };
        let written = std::mem::replace(&mut call.arguments, decoded);
        let data = call.provider_data.entry(&*self.provider).or_insert_with(|| Value::Object(Map::default()));
        if let Value::Object(data) = data {
            data.insert(WRITTEN_ARGUMENTS.to_owned(), written.into());
        }
    }

    /// Returns the arguments of an earlier call in the shape that the provider knows: as the model wrote them if it was a
    /// model of this provider, or converted.
    #[must_use]
    pub fn encode<'c>(&self, call: &'c ToolCall) -> Cow<'c, str> {
        let data = call.provider_data.get(&*self.provider);
        if let Some(written) = data.and_then(|data| data.get(WRITTEN_ARGUMENTS)).and_then(Value::as_str) {
            return Cow::Borrowed(written);
        }
        let codec = self.get(&call.name).map(|tool| &tool.codec).filter(|_| call.argument_issue.is_none());
        codec.and_then(|codec| codec.encode(&call.arguments).ok()).unwrap_or(Cow::Borrowed(&call.arguments))
    }

    /// Returns the features in preview that the tools require, each once.
    #[must_use]
    pub fn betas(&self) -> Vec<&str> {
        let mut betas: Vec<&str> = Vec::new();
        for beta in self.tools.iter().filter_map(|tool| tool.beta.as_deref()) {
            if !betas.contains(&beta) {
                betas.push(beta);
            }
        }
        betas
    }
}

/// Returns the issue of arguments that can't be converted. Those of text that is no JSON are found by the tool.
fn argument_issue(error: CodecError) -> Option<Issue> {
    match error {
        CodecError::Shape { pointer, message } => Some(Issue::new(pointer, "decode", message)),
        CodecError::TooLong(bytes) => {
            Some(Issue::new("", "maxBytes", format!("must have at most {bytes} bytes when converted; send less")))
        }
        _ => None,
    }
}

/// Checks once that a list is JSON, so that it can be copied into every body. A form that writes something else is sent
/// as text, so that the provider rejects it.
fn raw(list: &str) -> Box<RawValue> {
    RawValue::from_string(list.to_owned()).or_else(|_| to_raw_value(list)).unwrap_or_default()
}

impl<'t> IntoIterator for &'t RenderedTools {
    type Item = &'t RenderedTool;
    type IntoIter = std::slice::Iter<'t, RenderedTool>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl RenderedTool {
    /// Returns the tool as it is sent.
    fn listed(&self) -> ListedTool<'_> {
        let json = self.opened_json.as_ref().map_or(self.json.as_str(), Secret::expose);
        ListedTool { json, ..self.shown() }
    }

    /// Returns the tool as it is shown.
    fn shown(&self) -> ListedTool<'_> {
        ListedTool::new(&self.json, self.mode == ToolMode::BuiltIn, self.namespace.as_deref())
    }
}

impl std::fmt::Debug for RenderedTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RenderedTools")
            .field("provider", &self.provider)
            .field("tools", &self.tools)
            .field("findings", &self.findings)
            .finish_non_exhaustive()
    }
}
