//! A request's tools, rendered for one wire, and the way back from what the model sends.

use std::borrow::Cow;
use std::cmp::Reverse;
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

/// The `provider_data` member that holds the arguments as the model wrote them, if they differ from the decoded ones.
const WRITTEN_ARGUMENTS: &str = "arguments";

/// The tool member that defers a definition, at OpenAI and at Anthropic.
pub(crate) const DEFERRED: &str = "defer_loading";

/// The wire name for a call without a name. A model may make such a call, but no provider accepts it back. No encoded
/// name looks like this.
const NO_NAME: &str = "_x5F_empty";

/// A request's tools, rendered for one wire.
///
/// A wire sends [`raw_list`](RenderedTools::raw_list), translates names with [`wire_name`](RenderedTools::wire_name)
/// and [`tool_name`](RenderedTools::tool_name), and converts a history's arguments with
/// [`encode`](RenderedTools::encode). A [`TurnBuilder`](crate::TurnBuilder) converts an answer's arguments back.
pub struct RenderedTools {
    provider: Cow<'static, str>,
    tools: Vec<RenderedTool>,
    by_name: HashMap<String, usize>,
    by_wire_name: HashMap<String, usize>,
    names: NameRule,
    form: Arc<dyn ToolForm>,
    list: Box<RawValue>,
    /// The list with its secrets in place, if it has any. Never shown.
    opened_list: Option<Box<RawValue>>,
    has_deferred: bool,
    findings: Vec<Finding>,
}

/// One tool, rendered for a wire.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RenderedTool {
    /// The tool's name.
    pub name: String,
    /// The name on the wire.
    pub wire_name: String,
    /// The tool as JSON text, with its secrets sealed.
    pub json: String,
    /// The mode.
    pub mode: ToolMode,
    /// Converts arguments.
    pub codec: Codec,
    /// The preview feature that the tool requires, in the provider's notation.
    pub beta: Option<String>,
    /// The namespace that the tool is sent in.
    pub namespace: Option<Arc<ToolNamespace>>,
    /// True if programs at the provider may call the tool.
    pub called_by_programs: bool,
    /// True if the model has to search for the tool before it reads its definition.
    pub deferred: bool,
    /// The JSON text with its secrets in place, if it has any.
    pub(crate) opened_json: Option<Secret>,
    /// The JSON text that the request contains outside the tool, with its secrets in place; see
    /// [`ProviderToolJson::beside`](crate::ProviderToolJson::beside).
    pub(crate) beside: Option<Secret>,
    /// The secrets in both.
    pub(crate) secrets: Vec<Secret>,
}

/// A tool group that is sent as one tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolNamespace {
    /// The name on the wire.
    pub name: String,
    /// The description. For tools that a model has to search for, it reads nothing else.
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
        mut findings: Vec<Finding>,
    ) -> Self {
        findings.sort_by_key(|finding| Reverse(finding.severity()));
        let by_name = tools.iter().enumerate().map(|(at, tool)| (tool.name.clone(), at)).collect();
        let by_wire_name = tools.iter().enumerate().map(|(at, tool)| (tool.wire_name.clone(), at)).collect();
        let list = raw(&form.list(&mut tools.iter().map(RenderedTool::shown)));
        let has_secrets = tools.iter().any(|tool| tool.opened_json.is_some());
        let opened_list = has_secrets.then(|| raw(&form.list(&mut tools.iter().map(RenderedTool::listed))));
        let has_deferred = tools.iter().any(|tool| tool.deferred);
        Self { provider, tools, by_name, by_wire_name, names, form, list, opened_list, has_deferred, findings }
    }

    /// Returns the tool list as JSON text for display, with secrets sealed. To send the list, use
    /// [`raw_list`](Self::raw_list).
    #[must_use]
    pub fn list(&self) -> &str {
        self.list.get()
    }

    /// Returns the tool list to send, which you can write into a larger document without parsing it. It contains the
    /// settings' secrets. Many providers reject an empty list: check [`is_empty`](Self::is_empty).
    #[must_use]
    pub fn raw_list(&self) -> &RawValue {
        self.opened_list.as_deref().unwrap_or(&self.list)
    }

    /// Returns the secrets in the list to send. Never show them: some providers quote what they reject.
    #[must_use]
    pub fn secrets(&self) -> Vec<Secret> {
        self.tools.iter().flat_map(|tool| tool.secrets.iter().cloned()).collect()
    }

    /// Returns the list to send with only the tools that a choice permits.
    #[must_use]
    pub fn list_permitted(&self, choice: &ToolChoice) -> Cow<'_, str> {
        match self.raw_permitted(choice) {
            Cow::Borrowed(list) => Cow::Borrowed(list.get()),
            Cow::Owned(list) => Cow::Owned(list.get().to_owned()),
        }
    }

    /// Returns the list with only the tools that a choice permits, as a value that is written verbatim.
    pub(crate) fn raw_permitted(&self, choice: &ToolChoice) -> Cow<'_, RawValue> {
        if self.tools.iter().all(|tool| choice.permits(&tool.name)) {
            return Cow::Borrowed(self.raw_list());
        }
        let permitted = self.tools.iter().filter(|tool| choice.permits(&tool.name));
        Cow::Owned(raw(&self.form.list(&mut permitted.map(RenderedTool::listed))))
    }

    /// Returns the list with all tools side by side, without namespaces.
    pub(crate) fn raw_flat(&self) -> Cow<'_, RawValue> {
        if self.tools.iter().all(|tool| tool.namespace.is_none()) {
            return Cow::Borrowed(self.raw_list());
        }
        let flat = |tool| ListedTool { namespace: None, ..RenderedTool::listed(tool) };
        Cow::Owned(raw(&self.form.list(&mut self.tools.iter().map(flat))))
    }

    /// Reports whether the model has to search for any of the tools.
    pub(crate) fn has_deferred(&self) -> bool {
        self.has_deferred
    }

    /// Checks that every tool can be sent as it must be. A wire calls this when it writes a request.
    ///
    /// # Errors
    ///
    /// If a tool can't be strict though it must be, or has a secret that only another process can open: the provider
    /// would not do what the tool's author relies on.
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

    /// Iterates over the sent tools in order.
    pub fn iter(&self) -> std::slice::Iter<'_, RenderedTool> {
        self.tools.iter()
    }

    /// Returns a sent tool by its own name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RenderedTool> {
        self.by_name.get(name).and_then(|at| self.tools.get(*at))
    }

    /// Returns a sent tool by its wire name.
    #[must_use]
    pub fn get_by_wire_name(&self, wire_name: &str) -> Option<&RenderedTool> {
        self.by_wire_name.get(wire_name).and_then(|at| self.tools.get(*at))
    }

    /// Returns all findings, the worst first: tools that are left out, then losses, then warnings.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns a tool's wire name, even if the tool is not in the list.
    #[must_use]
    pub fn wire_name<'n>(&'n self, name: &'n str) -> Cow<'n, str> {
        match self.get(name) {
            Some(tool) => Cow::Borrowed(&tool.wire_name),
            None if name.is_empty() => Cow::Borrowed(NO_NAME),
            None => self.names.encode(name),
        }
    }

    /// Returns the name of the tool that the model called. A name that stands for no tool is decoded, or returned as it
    /// is, so that the call is answered as a call to an unknown tool.
    #[must_use]
    pub fn tool_name<'n>(&'n self, wire_name: &'n str) -> Cow<'n, str> {
        match self.get_by_wire_name(wire_name) {
            Some(tool) => Cow::Borrowed(&tool.name),
            None => self.names.decode(wire_name).map_or(Cow::Borrowed(wire_name), Cow::Owned),
        }
    }

    /// Converts a call's arguments to the tool schema's shape, and keeps the model's own text in the call's provider
    /// data.
    ///
    /// Arguments that can't be converted stay as they are, with the reason. They may already have the tool's shape; if
    /// not, the model reads what is wrong with the shape it was asked for.
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

    /// Returns an earlier call's arguments in the shape that the provider knows: as the model wrote them if this
    /// provider's model did, otherwise converted.
    #[must_use]
    pub fn encode<'c>(&self, call: &'c ToolCall) -> Cow<'c, str> {
        let data = call.provider_data.get(&*self.provider);
        if let Some(written) = data.and_then(|data| data.get(WRITTEN_ARGUMENTS)).and_then(Value::as_str) {
            return Cow::Borrowed(written);
        }
        let codec = self.get(&call.name).map(|tool| &tool.codec).filter(|_| call.argument_issue.is_none());
        codec.and_then(|codec| codec.encode(&call.arguments).ok()).unwrap_or(Cow::Borrowed(&call.arguments))
    }

    /// Returns the preview features that the tools require, without duplicates.
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

/// Returns the issue with arguments that can't be converted. If the text is not JSON, the tool itself finds that.
fn argument_issue(error: CodecError) -> Option<Issue> {
    match error {
        CodecError::Shape { pointer, message } => Some(Issue::new(pointer, "decode", message)),
        CodecError::TooLong(bytes) => {
            Some(Issue::new("", "maxBytes", format!("must have at most {bytes} bytes when converted; send less")))
        }
        _ => None,
    }
}

/// Returns a tool list with all definitions loaded at once, for a request in which none could be found.
pub(crate) fn loaded(list: &RawValue) -> Cow<'_, RawValue> {
    let Ok(mut tools) = serde_json::from_str::<Value>(list.get()) else { return Cow::Borrowed(list) };
    load(&mut tools);
    Cow::Owned(raw(&tools.to_string()))
}

/// Removes the flag from the tools of a list, and from those of its namespaces.
fn load(tools: &mut Value) {
    for tool in tools.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        tool.shift_remove(DEFERRED);
        tool.get_mut("tools").into_iter().for_each(load);
    }
}

/// Checks once that a list is JSON, so that it can be copied into every body. If a form writes something else, it is
/// sent as text, so that the provider rejects it.
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
