//! An approval request as shown: the tool and its description, the hints, the command or request with the arguments
//! filled in, the rule that required approval, and the arguments.

use std::borrow::Cow;
use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use haft::approval::{ApprovalRequest, ApprovalRule, RejectedVerdict, VerdictFault};
use haft::registry::{CallEffect, CallPreview};
use haft::schema::{Issue, Issues, JsonText};
use haft::tool::Tool;
use haft::workspace::UntrustedAuthor;
use unicode_width::UnicodeWidthStr;

use super::arguments::indented;
use crate::terminal::{Terminal, cut, escaped, escaped_json_text, one_line, printable};

/// The most argument rows to show at once.
const MAX_ROWS: usize = 16;

/// The most rows to show at once for any other fact.
const MAX_FACT_ROWS: usize = 4;

/// The columns that a fact's indent and label take.
const LABEL: usize = 11;

/// The number of times that an edit is accepted for checking, as in the executor.
const ATTEMPTS: u32 = 3;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// A call that a person is asked about.
#[derive(Debug)]
pub(super) struct ShownCall {
    title: String,
    /// Labels and texts. Each text is one line that shows every character.
    facts: Vec<(Cow<'static, str>, String)>,
    arguments: String,
}

impl ShownCall {
    /// Collects the facts about a call. `edited` are the arguments that replace the model's.
    pub(super) fn new(request: &ApprovalRequest, edited: Option<&str>, tool: Option<&Tool>) -> Self {
        let (name, id) = (one_line(&request.tool), one_line(request.call_id.as_str()));
        let mark = if edited.is_some() { ", as you edited it" } else { "" };
        let title = format!("\n{BOLD}{name}{BOLD:#} {DIM}(call {id}{mark}){DIM:#}");
        let arguments = edited.unwrap_or(&request.arguments);
        let mut facts: Vec<(Cow<'static, str>, String)> = Vec::new();
        if let Some(tool) = tool {
            facts.push(("tool".into(), one_line(tool.name())));
            facts.retain(|(_, tool)| *tool != name);
            let about = tool.description().map(|text| escaped(&one_line(text))).filter(|text| !text.is_empty());
            facts.extend(about.map(|text| ("about".into(), text)));
            facts.push(("hints".into(), hints(tool)));
            if tool.annotations().get::<UntrustedAuthor>().is_some() {
                let note = "described by an untrusted file: its texts and hints are claims";
                facts.push(("note".into(), note.to_owned()));
            }
            facts.extend(effect_facts(tool, arguments));
        }
        facts.extend(request.rule.as_ref().map(|rule| ("rule".into(), rule_text(rule))));
        Self { title, facts, arguments: indented(arguments) }
    }

    /// Returns the call with its long parts cut.
    pub(super) fn brief(&self, terminal: Terminal) -> String {
        let width = terminal.width();
        let facts = self.facts.iter().map(|(label, text)| (&**label, cut(text, fact_columns(width)).into_owned()));
        let mut text = self.title.clone() + &fact_lines(facts);
        text.push('\n');
        text.push_str(&excerpt(&self.arguments, width));
        text
    }

    /// Returns the call with all its parts.
    pub(super) fn whole(&self) -> String {
        let facts = self.facts.iter().map(|(label, text)| (&**label, text.clone()));
        format!("{}{}\n{}", self.title, fact_lines(facts), whole(&self.arguments))
    }

    /// Reports whether the call is shown in part.
    pub(super) fn is_cut(&self, terminal: Terminal) -> bool {
        let width = terminal.width();
        shown(&self.arguments, width).is_some() || self.facts.iter().any(|(_, text)| text.width() > fact_columns(width))
    }
}

fn fact_columns(width: usize) -> usize {
    MAX_FACT_ROWS * width.saturating_sub(LABEL).max(1)
}

fn fact_lines<'f>(facts: impl Iterator<Item = (&'f str, String)>) -> String {
    let mut lines = String::new();
    for (label, text) in facts {
        let _ = write!(lines, "\n  {DIM}{label:<7}{DIM:#}  {text}");
    }
    lines
}

/// Returns a tool's hints, including those that hold because it is not marked otherwise.
fn hints(tool: &Tool) -> String {
    let annotations = tool.annotations();
    let mut hints = Vec::new();
    if annotations.readonly() {
        hints.push("readonly");
    } else {
        hints.push("not readonly");
        hints.push(if annotations.destructive() { "destructive" } else { "not destructive" });
        hints.push(if annotations.idempotent() { "idempotent" } else { "not idempotent" });
    }
    hints.push(if annotations.open_world() { "open world" } else { "closed world" });
    hints.join(", ")
}

/// Returns what a call with these arguments starts or sends, if the tool says so.
pub(super) fn effect(tool: &Tool, arguments: &JsonText) -> Option<Result<CallEffect, Issues>> {
    let preview = tool.annotations().get::<CallPreview>()?;
    arguments.as_str().trim_start().starts_with('{').then(|| preview.effect(arguments))
}

/// Returns the facts about what a call does, or about what all the tool's calls do if the arguments don't fit: such a
/// call is going to be rejected.
fn effect_facts(tool: &Tool, arguments: &str) -> Vec<(Cow<'static, str>, String)> {
    let arguments = JsonText::parse(arguments).unwrap_or_else(|_| JsonText::null());
    let template = || tool.annotations().get::<CallPreview>().map(|preview| preview.template().facts());
    let facts = match effect(tool, &arguments) {
        Some(Ok(effect)) => effect.facts(),
        Some(Err(_)) | None => template().unwrap_or_default(),
    };
    facts.into_iter().map(|fact| (escaped(&fact.label).into(), escaped(&fact.text))).collect()
}

/// Returns the issues with arguments that were edited before.
pub(super) fn rejected(verdict: &RejectedVerdict, attempt: u32) -> String {
    let mut text = format!("\n{ERROR}the edit was not accepted{ERROR:#} {DIM}(attempt {attempt} of {ATTEMPTS}){DIM:#}");
    for fault in faults(&verdict.fault) {
        let _ = write!(text, "\n  {}", printable(&fault));
    }
    text
}

/// Returns the reasons why a verdict was rejected, one per line.
pub(super) fn faults(fault: &VerdictFault) -> Vec<String> {
    match fault {
        VerdictFault::Invalid { issues } => issue_lines(issues.iter()).collect(),
        fault => vec![fault.to_string()],
    }
}

/// Returns the reasons why a text was not accepted.
pub(super) fn not_accepted(faults: &[String]) -> String {
    let mut text = format!("{ERROR}the edit was not accepted{ERROR:#}");
    for fault in faults {
        let _ = write!(text, "\n  {}", printable(fault));
    }
    text
}

/// Returns issues with their places.
pub(super) fn issue_lines<'i>(issues: impl Iterator<Item = &'i Issue>) -> impl Iterator<Item = String> {
    issues.map(|issue| {
        let place = if issue.pointer.is_empty() { "the arguments".to_owned() } else { one_line(&issue.pointer) };
        format!("{place}: {}", issue.message)
    })
}

/// Returns all arguments.
fn whole(arguments: &str) -> String {
    indent(arguments.lines())
}

/// Returns the arguments, or their first rows and how many follow.
fn excerpt(arguments: &str, width: usize) -> String {
    match shown(arguments, width) {
        None => whole(arguments),
        Some(lines) => {
            // A line that alone is too long is cut.
            let columns = MAX_ROWS * width.saturating_sub(4).max(1);
            let mut text = indent(arguments.lines().take(lines.max(1)).map(|line| cut(line, columns)));
            let rest = arguments.lines().count() - lines.max(1);
            let note = match rest {
                0 => "the rest of the line is not shown".to_owned(),
                1 => "1 more line is not shown".to_owned(),
                rest => format!("{rest} more lines are not shown"),
            };
            let _ = write!(text, "\n  {DIM}… {note}: choose `show everything`{DIM:#}");
            text
        }
    }
}

/// Returns how many lines fit, if there are more.
fn shown(arguments: &str, width: usize) -> Option<usize> {
    let columns = width.saturating_sub(4).max(1);
    let mut rows = 0;
    arguments.lines().position(|line| {
        rows += line.width().div_ceil(columns).max(1);
        rows > MAX_ROWS
    })
}

fn indent<L: AsRef<str>>(lines: impl Iterator<Item = L>) -> String {
    lines.map(|line| format!("  {}", escaped_json_text(line.as_ref()))).collect::<Vec<_>>().join("\n")
}

fn rule_text(rule: &ApprovalRule) -> String {
    match rule {
        ApprovalRule::ToolPolicy => "the tool requires approval".to_owned(),
        ApprovalRule::RunPolicy => "the workspace requires approval".to_owned(),
        ApprovalRule::PolicyFailed => "the policy failed, so approval is required".to_owned(),
        ApprovalRule::StillOpen => "an earlier request for this call is pending".to_owned(),
        ApprovalRule::DefinitionChanged => "the definition of the tool has changed since it was approved".to_owned(),
        other => one_line(other.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use haft::http::Method;
    use haft::registry::{Entry, ToolSettings};
    use haft::run::ToolCall;
    use haft::tools::command::CommandTool;
    use haft::tools::http::{BodyFormat, BodyMapping, HttpAuth, HttpTool};
    use serde_json::{Value, json};

    use super::*;

    fn plain(arguments: &str, width: usize) -> String {
        anstream::adapter::strip_str(&excerpt(&indented(arguments), width)).to_string()
    }

    fn shown_call(request: &ApprovalRequest, edited: Option<&str>, tool: &Tool) -> String {
        let terminal = Terminal { stdout: false, stderr: false, stdin: false };
        let shown = ShownCall::new(request, edited, Some(tool));
        anstream::adapter::strip_str(&shown.brief(terminal)).to_string()
    }

    #[test]
    fn a_request_shows_the_tool_the_command_and_the_arguments_without_control_characters() {
        let call = ToolCall::new("c\u{1b}1", "delete\nfile", "{\"path\": \"a\u{202e}b\"}");
        let mut asked = ApprovalRequest::new("q1", &call);
        asked.rule = Some(ApprovalRule::ToolPolicy);
        let command = CommandTool::new(["rm", "--", "two\n words", "{path}"]).folder("/srv").secret_env("KEY", "key");
        let tool =
            Tool::dynamic("remove").describe("Removes\na \u{1b}[1mfile.").params_json(command.default_parameters());
        let tool = command.build(tool).unwrap();
        insta::assert_snapshot!(shown_call(&asked, None, &tool), @r#"

        delete file (call c\u{1b}1)
          tool     remove
          about    Removes a \u{1b}[1mfile.
          hints    not readonly, destructive, not idempotent, open world
          runs     rm -- "two\n words" a\u{202e}b
          in       /srv
          secrets  `key`
          rule     the tool requires approval
          {
            "path": "a\u202eb"
          }
        "#);
        let edited = shown_call(&asked, Some(r#"{"path": "b c"}"#), &tool);
        assert!(
            edited.contains("as you edited it") && edited.contains(r#"runs     rm -- "two\n words" "b c""#),
            "{edited}"
        );
        assert!(!edited.contains("a\\u{202e}b"), "{edited}");
    }

    #[test]
    fn a_request_shows_what_a_tool_sends_and_names_its_secrets() {
        let call = ToolCall::new("c1", "close", r#"{"id": "7/8", "text": "bye\nall"}"#);
        let close = HttpTool::new(Method::POST, "https://example.com/issues/{id}/close".parse().unwrap());
        let close = close.auth(HttpAuth::bearer("github")).body(BodyMapping::rest(BodyFormat::Json));
        let mut settings = ToolSettings::default();
        let text = json!({"type": "string"});
        settings.parameters =
            Some(json!({"type": "object", "properties": {"id": text, "text": text}, "required": ["id"]}));
        let tool = close.build(&Entry::new("close", Value::Null).tool(settings)).unwrap();
        insta::assert_snapshot!(shown_call(&ApprovalRequest::new("q1", &call), None, &tool), @r#"

        close (call c1)
          hints    not readonly, destructive, not idempotent, open world
          sends    POST https://example.com/issues/7%2F8/close
          header   content-type: application/json
          body     {"text":"bye\nall"}
          secrets  `github`
          {
            "id": "7/8",
            "text": "bye\nall"
          }
        "#);
    }

    #[test]
    fn arguments_that_do_not_fit_show_the_command_with_its_variables() {
        let command = CommandTool::new(["rm", "--", "{path}"]);
        let tool = Tool::dynamic("remove").params_json(command.default_parameters());
        let tool = command.build(tool).unwrap();
        let text = shown_call(&ApprovalRequest::new("q1", &ToolCall::new("c1", "remove", "[1")), None, &tool);
        assert!(text.contains("runs     rm -- {path}"), "{text}");
    }

    #[test]
    fn the_words_of_an_untrusted_file_are_marked() {
        let call = ToolCall::new("c1", "x", "{}");
        let list = CommandTool::new(["ls"]);
        let tool = list.clone().build(Tool::dynamic("x").params_json(list.default_parameters())).unwrap();
        let marked = tool.annotate(UntrustedAuthor::new(std::path::Path::new("haft.toml")));
        for (tool, is_marked) in [(tool, false), (marked, true)] {
            let text = shown_call(&ApprovalRequest::new("q1", &call), None, &tool);
            assert_eq!(text.contains("described by an untrusted file"), is_marked, "{text}");
        }
    }

    #[test]
    fn long_arguments_are_cut_with_a_note() {
        let many: Vec<u32> = (0..40).collect();
        let text = plain(&serde_json::to_string(&many).unwrap(), 80);
        assert_eq!(text.lines().count(), MAX_ROWS + 1);
        assert!(text.ends_with("  … 26 more lines are not shown: choose `show everything`"), "{text}");
        let long = plain(&format!("\"{}\"", "x".repeat(100_000)), 40);
        assert!(long.len() < 1000 && long.contains("the rest of the line is not shown"), "{long}");
        assert_eq!(plain("{}", 20), "  {}");
    }
}
