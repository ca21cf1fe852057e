//! Calls that Gemini executed itself, and their results.
//!
//! Both are response parts that must go back as they are and where they were. A result that directly follows its call
//! is kept with it. Any other is an item of its own, which preserves the order.

use haft_core::{CallId, Delta, ProviderCall};
use haft_schema::JsonText;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{GeminiTurn, LastPart};
use crate::wire::gemini_content::response::ReadPart;
use crate::wire_error::ReadError;

/// The part members that report a call, and those that report its result.
const REPORTS: [(&str, ReportKind); 4] = [
    ("executableCode", ReportKind::Call),
    ("toolCall", ReportKind::Call),
    ("codeExecutionResult", ReportKind::Result),
    ("toolResponse", ReportKind::Result),
];

/// Built-in tool names by call type. Other types are their own names in lower case.
const TOOL_TYPES: [(&str, &str); 2] =
    [("GOOGLE_SEARCH_WEB", "google_search"), ("GOOGLE_SEARCH_IMAGE", "google_search")];

/// A pointer to nothing: a result's part contains no call.
const NO_INPUT: &str = "/0/toolCall";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReportKind {
    Call,
    Result,
}

/// A call that the provider executed, or such a call's result.
#[derive(Debug)]
pub(super) struct Report<'r> {
    member: &'static str,
    kind: ReportKind,
    content: &'r RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ReportMembers<'r> {
    id: Option<String>,
    tool_type: Option<String>,
    outcome: Option<String>,
    #[serde(borrow)]
    args: Option<&'r RawValue>,
    #[serde(borrow)]
    response: Option<&'r RawValue>,
}

impl<'r> Report<'r> {
    /// Returns the call or result that a part reports.
    pub(super) fn of(part: &ReadPart<'r>) -> Option<Self> {
        let find = |(member, kind): (&'static str, ReportKind)| {
            part.member(member).map(|content| Self { member, kind, content })
        };
        REPORTS.into_iter().find_map(find)
    }

    fn members(&self) -> ReportMembers<'r> {
        serde_json::from_str(self.content.get()).unwrap_or_default()
    }
}

impl ReportMembers<'_> {
    fn tool_name(&self) -> String {
        let Some(kind) = self.tool_type.as_deref() else { return "code_execution".to_owned() };
        let known = TOOL_TYPES.into_iter().find(|(known, _)| *known == kind).map(|(_, name)| name.to_owned());
        known.unwrap_or_else(|| kind.to_ascii_lowercase())
    }

    fn is_error(&self) -> bool {
        self.outcome.as_deref().is_some_and(|outcome| outcome != "OUTCOME_OK")
    }
}

impl GeminiTurn {
    pub(super) fn add_report(
        &mut self,
        report: &Report<'_>,
        part: &ReadPart<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), ReadError> {
        let json = part.to_json()?;
        let members = report.members();
        // Code is reported as it is; other tools' calls come in an object about the call.
        let content = members.args.or(members.response).unwrap_or(report.content);
        let last = std::mem::replace(&mut self.last, LastPart::Closed);
        match report.kind {
            ReportKind::Call => {
                let id = members.id.as_deref().filter(|id| !id.is_empty()).map(CallId::from);
                self.call_ids.extend(id.clone());
                let id = id.unwrap_or_else(|| self.assigned_id());
                let name = members.tool_name();
                deltas.push(self.builder.provider_call_start(id.clone(), self.provider.as_str(), name));
                deltas.push(self.builder.provider_call_arguments(id.clone(), content.get()));
                if let Some(call) = self.builder.provider_call_mut(&id) {
                    call.payload = Value::Array(vec![json]);
                    // The result's part, if it follows directly; its member is known when it arrives.
                    call.output_at = Some("/1".to_owned());
                    let args = if members.args.is_some() { "/args" } else { "" };
                    call.input_at = Some(format!("/0/{}{args}", report.member));
                }
                self.last = LastPart::ProviderCall(id);
            }
            ReportKind::Result => {
                let directly = match &last {
                    LastPart::ProviderCall(id) if members.id.as_deref().is_none_or(|stated| *id == stated) => Some(id),
                    _ => None,
                };
                let call_id = directly.cloned().or_else(|| members.id.as_deref().map(CallId::from));
                if let Some(id) = call_id {
                    let content = JsonText::parse(content.get());
                    let content = content.map_err(|source| ReadError::json(report.member, source))?;
                    deltas.push(self.builder.provider_call_output(id, content, members.is_error()));
                }
                let response = if members.response.is_some() { "/response" } else { "" };
                let pointer = |at: usize| format!("/{at}/{}{response}", report.member);
                let call = directly.and_then(|id| self.builder.provider_call_mut(id));
                if let Some(ProviderCall { payload: Value::Array(parts), output_at, .. }) = call {
                    *output_at = Some(pointer(parts.len()));
                    parts.push(json);
                } else {
                    let payload = Value::Array(vec![json]);
                    let mut call = ProviderCall::new(&*self.provider, members.tool_name(), payload)
                        .output_at(pointer(0))
                        .input_at(NO_INPUT);
                    call.is_error = members.is_error();
                    self.builder.item(call);
                }
            }
        }
        Ok(())
    }
}
