//! A call's outcome: a value on standard output, or a failure's reasons on standard error.

use std::error::Error as _;
use std::path::PathBuf;

use haft::conversation::ContentPart;
use haft::run::{FailureKind, Outcome, ResultParts, ToolFailure, ToolOutput, ToolResult};
use haft::schema::JsonText;
use haft::serde_json::{self, Value, json};
use haft::tool::Tool;

use super::parameter;
use crate::context::Context;
use crate::error::{CommandError, Fault};
use crate::events;
use crate::exit::ExitStatus;
use crate::media::Media;
use crate::report;
use crate::terminal::{cut, escaped, printable};

/// The most columns to show for a failure's detail.
const MAX_DETAIL: usize = 2000;

/// The result's use.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The folder for media.
    pub(super) save: Option<PathBuf>,
    /// True to print JSON on a terminal too, also for a failure.
    pub(super) json: bool,
    pub(super) approvals: Approvals,
}

/// The source of approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Approvals {
    /// An approver was asked.
    Somebody,
    /// There was no approver to ask.
    Nobody,
}

/// Prints the result, saves its media, and returns the exit status.
pub(super) fn report(
    result: &ToolResult,
    tool: &Tool,
    wanted: &Wanted,
    cx: &Context,
) -> Result<ExitStatus, CommandError> {
    // You named the tool and wrote the arguments.
    let ResultParts { call_id: _, tool: _, outcome, repairs: _ } = result.parts();
    match outcome {
        Outcome::Failed(failure) => {
            if wanted.json {
                let text = serde_json::to_string(&json!({"error": failure}));
                cx.terminal
                    .print_json(text.map_err(|error| Fault::new("the failure can't be written").cause(&error))?)?;
            }
            report_failure(failure, tool, wanted, cx);
            Ok(if cx.interrupt.is_raised() { ExitStatus::Interrupted } else { status(failure) })
        }
        Outcome::Ok(output) => {
            print(output, wanted, cx)?;
            save(output, wanted, cx)?;
            Ok(if cx.interrupt.is_raised() { ExitStatus::Interrupted } else { ExitStatus::Done })
        }
    }
}

fn status(failure: &ToolFailure) -> ExitStatus {
    match failure.kind {
        FailureKind::InputValidationError | FailureKind::UnknownTool => ExitStatus::Invalid,
        FailureKind::Denied | FailureKind::PermissionDenied => ExitStatus::Denied,
        _ => ExitStatus::Failed,
    }
}

fn print(output: &ToolOutput, wanted: &Wanted, cx: &Context) -> Result<(), CommandError> {
    let parts = output.content().unwrap_or_default();
    if cx.terminal.stdout && !wanted.json {
        let has_media = parts.iter().any(|part| Media::of(part).is_some());
        return match output.value().filter(|_| !has_media) {
            Some(value) => cx.terminal.print(printable(&readable(value.as_str()))),
            None => parts.iter().try_for_each(|part| cx.terminal.print(printable(&line(part)))),
        };
    }
    match output.value() {
        Some(value) => cx.terminal.print_json(events::compact(value.as_str())),
        None => {
            let text = serde_json::to_string(parts);
            cx.terminal.print_json(text.map_err(|error| Fault::new("the result can't be written").cause(&error))?)
        }
    }
}

/// Returns JSON for people: a text as it is, anything else indented.
fn readable(json: &str) -> String {
    if let Ok(text) = serde_json::from_str::<String>(json) {
        return text;
    }
    match JsonText::parse(json).and_then(|text| serde_json::to_string_pretty(&text.to_value())) {
        Ok(indented) => indented,
        Err(_) => json.to_owned(),
    }
}

/// Returns an output part for people.
fn line(part: &ContentPart) -> String {
    match (Media::of(part), part.as_text()) {
        (Some(media), _) => format!("[{}]", media.line()),
        (None, Some(text)) => text.to_owned(),
        (None, None) => serde_json::to_string(part).unwrap_or_default(),
    }
}

/// Saves the media, or tells that there are some.
fn save(output: &ToolOutput, wanted: &Wanted, cx: &Context) -> Result<(), CommandError> {
    let media: Vec<Media> = output.content().unwrap_or_default().iter().filter_map(Media::of).collect();
    let Some(folder) = &wanted.save else {
        if !media.is_empty() && cx.terminal.stdout && !wanted.json {
            cx.terminal.note("save the media with `--save DIR`");
        }
        return Ok(());
    };
    if media.is_empty() {
        cx.terminal.note("there is nothing to save: the result has no images, audio or files");
    }
    for part in media {
        match part.save(folder)? {
            Some(path) => cx.terminal.note(printable(&format!("saved `{}`", path.display()))),
            None => cx.terminal.note(printable(&format!("not saved: {}", part.line()))),
        }
    }
    Ok(())
}

/// Returns a failure's details, one line per member.
fn detail_lines(details: &Value) -> Vec<String> {
    let text = |value: &Value| match value.as_str() {
        Some(text) => cut(text.trim_end(), MAX_DETAIL).into_owned(),
        None => cut(&value.to_string(), MAX_DETAIL).into_owned(),
    };
    match details.as_object() {
        Some(members) => members.iter().map(|(name, value)| format!("{name}: {}", text(value))).collect(),
        None => vec![text(details)],
    }
}

fn report_failure(failure: &ToolFailure, tool: &Tool, wanted: &Wanted, cx: &Context) {
    let name = tool.name();
    let is_invalid = failure.kind == FailureKind::InputValidationError;
    let mut fault = match failure.kind {
        FailureKind::InputValidationError => Fault::new(format!("the arguments of `{name}` are invalid")),
        FailureKind::Denied => Fault::new(format!("the call of `{name}` was denied: {}", failure.message)),
        FailureKind::PermissionDenied => Fault::new(format!("`{name}` is not permitted")),
        // The message is for a model, which may not know the cause.
        FailureKind::ExecutionError if failure.source().is_some() => Fault::new(format!("`{name}` failed")),
        _ => Fault::new(format!("`{name}` failed: {}: {}", failure.kind, failure.message)),
    };
    // The person at the terminal is the operator, who may know the cause.
    if let Some(cause) = failure.source() {
        fault = fault.cause(cause);
    }
    if failure.kind == FailureKind::Denied && wanted.approvals == Approvals::Nobody {
        fault = fault.advice("approve it with `--approve all`, or at a terminal with `--approve ask`");
    }
    report::write_fault(cx.terminal, &fault);
    for issue in &failure.issues {
        let place = if issue.pointer.is_empty() { String::new() } else { format!("{}: ", issue.pointer) };
        cx.terminal.note(format!("  {}", escaped(&format!("{place}{}", issue.message))));
    }
    if let Some(details) = &failure.details {
        for line in detail_lines(&details.to_value()) {
            cx.terminal.note(printable(&format!("  {line}")));
        }
    }
    if is_invalid && failure.issues.is_empty() {
        cx.terminal.note(format!("  {}", escaped(&failure.message)));
    }
    if is_invalid {
        cx.terminal.note(format!("`{name}` takes:"));
        for line in parameter::in_short(tool.json_schema()) {
            cx.terminal.note(format!("  {line}"));
        }
    }
}
