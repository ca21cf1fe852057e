//! A request for approval as it is shown.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use haft::approval::{ApprovalRequest, ApprovalRule, RejectedVerdict, VerdictFault};
use haft::registry::command::CommandTarget;
use haft::registry::http::HttpTarget;
use haft::tool::Tool;
use unicode_width::UnicodeWidthStr;

use super::arguments::indented;
use crate::command_line::command_line;
use crate::terminal::{Terminal, cut, one_line, printable};

/// The number of rows of arguments that are shown at once.
const MAX_ROWS: usize = 16;

/// The number of times that an edit is accepted for checking, as the executor has it.
const ATTEMPTS: u32 = 3;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Returns a request as text: the tool, the call, what the tool starts or sends, the rule that required approval, and the
/// arguments.
pub(super) fn request(request: &ApprovalRequest, tool: Option<&Tool>, terminal: Terminal) -> String {
    let (name, id) = (one_line(&request.tool), one_line(request.call_id.as_str()));
    let mut text = format!("\n{BOLD}{name}{BOLD:#} {DIM}(call {id}){DIM:#}");
    if let Some(tool) = tool.map(|tool| one_line(tool.name())).filter(|tool| *tool != name) {
        let _ = write!(text, "\n  {DIM}tool{DIM:#}  {tool}");
    }
    if let Some((label, action)) = tool.and_then(action) {
        let _ = write!(text, "\n  {DIM}{label}{DIM:#}  {}", printable(&action));
    }
    if let Some(rule) = &request.rule {
        let _ = write!(text, "\n  {DIM}rule{DIM:#}  {}", rule_text(rule));
    }
    text.push('\n');
    text.push_str(&excerpt(&indented(&request.arguments), terminal.width()));
    text
}

/// Returns what a call of the tool starts or sends, with a label, if it is known.
fn action(tool: &Tool) -> Option<(&'static str, String)> {
    let annotations = tool.annotations();
    if let Some(command) = annotations.get::<CommandTarget>() {
        return Some(("runs", command_line(command.argv.iter().map(String::as_str))));
    }
    let request = annotations.get::<HttpTarget>()?;
    Some(("sends", format!("{} {}", request.method, request.url.as_str())))
}

/// Returns the issues of arguments that were edited before.
pub(super) fn rejected(verdict: &RejectedVerdict, attempt: u32) -> String {
    let mut text = format!("\n{ERROR}the edit was not accepted{ERROR:#} {DIM}(attempt {attempt} of {ATTEMPTS}){DIM:#}");
    match &verdict.fault {
        VerdictFault::Invalid { issues } => {
            for issue in issues {
                let place =
                    if issue.pointer.is_empty() { "the arguments".to_owned() } else { one_line(&issue.pointer) };
                let _ = write!(text, "\n  {place}: {}", printable(&issue.message));
            }
        }
        fault => {
            let _ = write!(text, "\n  {}", printable(&fault.to_string()));
        }
    }
    text
}

/// Reports whether a request shows its arguments in part.
pub(super) fn is_cut(arguments: &str, terminal: Terminal) -> bool {
    shown(arguments, terminal.width()).is_some()
}

/// Returns all arguments.
pub(super) fn whole(arguments: &str) -> String {
    indent(arguments.lines())
}

/// Returns the arguments, or the first rows of them and how many follow.
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
            let _ = write!(text, "\n  {DIM}… {note}: choose `show all arguments`{DIM:#}");
            text
        }
    }
}

/// Returns the number of lines that fit, if there are more.
fn shown(arguments: &str, width: usize) -> Option<usize> {
    let columns = width.saturating_sub(4).max(1);
    let mut rows = 0;
    arguments.lines().position(|line| {
        rows += line.width().div_ceil(columns).max(1);
        rows > MAX_ROWS
    })
}

fn indent<L: AsRef<str>>(lines: impl Iterator<Item = L>) -> String {
    lines.map(|line| format!("  {}", printable(line.as_ref()))).collect::<Vec<_>>().join("\n")
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
    use haft::registry::Entry;
    use haft::registry::command::CommandTool;
    use haft::registry::http::HttpTool;
    use haft::run::ToolCall;

    use super::*;

    fn plain(arguments: &str, width: usize) -> String {
        anstream::adapter::strip_str(&excerpt(&indented(arguments), width)).to_string()
    }

    #[test]
    fn a_request_shows_the_tool_the_call_and_the_arguments_without_control_characters() {
        let call = ToolCall::new("c\u{1b}1", "delete\nfile", "{\"path\": \"a\u{202e}b\"}");
        let terminal = Terminal { stdout: false, stderr: false, stdin: false };
        let mut asked = ApprovalRequest::new("q1", &call);
        asked.rule = Some(ApprovalRule::ToolPolicy);
        let command = CommandTool::new(["rm", "--", "two\n words", "{path}"]);
        let tool = Tool::dynamic("remove").params_json(command.default_parameters());
        let tool = command.build(tool).unwrap();
        let text = anstream::adapter::strip_str(&request(&asked, Some(&tool), terminal)).to_string();
        insta::assert_snapshot!(text, @r#"

        delete file (call c\u{1b}1)
          tool  remove
          runs  rm -- "two\n words" {path}
          rule  the tool requires approval
          {
            "path": "a\u{202e}b"
          }
        "#);
    }

    #[test]
    fn a_request_shows_what_a_tool_sends() {
        let call = ToolCall::new("c1", "close", "{}");
        let terminal = Terminal { stdout: false, stderr: false, stdin: false };
        let close = HttpTool::new(Method::POST, "https://example.com/issues/{id}/close".parse().unwrap());
        let tool = close.build(&Entry::new("close", serde_json::Value::Null)).unwrap();
        let text = request(&ApprovalRequest::new("q1", &call), Some(&tool), terminal);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.contains("\n  sends  POST https://example.com/issues/{id}/close\n"), "{text}");
    }

    #[test]
    fn long_arguments_are_cut_with_a_note() {
        let many: Vec<u32> = (0..40).collect();
        let text = plain(&serde_json::to_string(&many).unwrap(), 80);
        assert_eq!(text.lines().count(), MAX_ROWS + 1);
        assert!(text.ends_with("  … 26 more lines are not shown: choose `show all arguments`"), "{text}");
        let long = plain(&format!("\"{}\"", "x".repeat(100_000)), 40);
        assert!(long.len() < 1000 && long.contains("the rest of the line is not shown"), "{long}");
        assert_eq!(plain("{}", 20), "  {}");
    }
}
