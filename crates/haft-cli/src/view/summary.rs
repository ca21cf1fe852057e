//! A run's summary: a table of its calls in call order, and the issues of rejected ones.

use anstyle::{AnsiColor, Style};
use comfy_table::{
    Attribute, Cell, CellAlignment, Color, ColumnConstraint, ContentArrangement, Row, Table, Width, presets,
};
use haft::run::{Outcome, ResultParts, ToolFailure, ToolOutput, ToolResult};

use super::ViewedCall;
use super::row::time_text;
use super::stage::{CallEnd, CallStage};
use crate::terminal::{cut, one_line, printable};

/// The most columns for a result's text, over all its lines.
const MAX_RESULT: usize = 240;

/// A call's number of lines.
const MAX_LINES: usize = 6;

/// The terminal width below which the times are left out.
const NARROW: usize = 60;

/// Renders the summary of calls. Those that are not suspended have one result each, in order. It is empty if there are
/// no calls.
pub(super) fn render(calls: &[ViewedCall], results: &[ToolResult], width: usize) -> String {
    if calls.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(width.try_into().unwrap_or(u16::MAX));
    // The stream removes styles where they are not wanted.
    table.enforce_styling();
    table.set_truncation_indicator("…");
    table.set_header(HEADER.map(|title| Cell::new(title).add_attribute(Attribute::Bold)));
    let mut rest = results.iter();
    for call in calls {
        let result = if call.stage == CallStage::Suspended { None } else { rest.next() };
        let mut row = Row::from(row(call, result));
        row.max_height(MAX_LINES);
        table.add_row(row);
    }
    constrain(&mut table, width);
    let mut text = table.trim_fmt();
    for failure in results.iter().filter_map(|result| Some((result, result.failure()?))) {
        if let Some(issues) = issues(failure.0, failure.1) {
            text.push_str("\n\n");
            text.push_str(&issues);
        }
    }
    text
}

const HEADER: [&str; 5] = ["CALL", "TOOL", "OUTCOME", "TIME", "RESULT"];

/// Sets the column widths: names are cut to a part of the width, and the result has the rest.
fn constrain(table: &mut Table, width: usize) {
    let part = |percent: u16| ColumnConstraint::UpperBoundary(Width::Percentage(percent));
    let time = if width < NARROW { ColumnConstraint::Hidden } else { ColumnConstraint::ContentWidth };
    table.set_constraints([part(20), part(30), ColumnConstraint::ContentWidth, time]);
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    if let Some(time) = table.column_mut(3) {
        time.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(last) = table.column_mut(4) {
        last.set_padding((0, 0));
    }
}

fn row(call: &ViewedCall, result: Option<&ToolResult>) -> Vec<Cell> {
    let (outcome, color, text) = match result {
        None => ("suspended", Color::DarkYellow, "waits for approval".to_owned()),
        Some(result) => {
            let end = CallEnd::of(result);
            (end.as_str(), color(end), result_text(result))
        }
    };
    let time = call.took.map(time_text).unwrap_or_default();
    vec![Cell::new(&call.id), Cell::new(&call.tool), Cell::new(outcome).fg(color), Cell::new(time), Cell::new(text)]
}

fn color(end: CallEnd) -> Color {
    match end {
        CallEnd::Done => Color::DarkGreen,
        CallEnd::Failed | CallEnd::Rejected => Color::DarkRed,
        CallEnd::Denied | CallEnd::Cancelled => Color::DarkYellow,
    }
}

/// Returns a result in short.
fn result_text(result: &ToolResult) -> String {
    // The line has the call and the tool already, and a person needs no repairs.
    let ResultParts { call_id: _, tool: _, outcome, repairs: _ } = result.parts();
    let text = match outcome {
        Outcome::Ok(output) => output_text(result, output),
        Outcome::Failed(failure) if failure.issues.len() > 1 => {
            format!("{} issues, see below", failure.issues.len())
        }
        Outcome::Failed(failure) => one_line(&failure.message),
    };
    cut(&text, MAX_RESULT).into_owned()
}

fn output_text(result: &ToolResult, output: &ToolOutput) -> String {
    let text = one_line(&result.to_model_text());
    let media = output.content().unwrap_or_default().iter().filter(|part| part.as_text().is_none()).count();
    match (text.is_empty(), media) {
        (_, 0) => text,
        (true, 1) => "1 part that is not text".to_owned(),
        (true, media) => format!("{media} parts that are not text"),
        (false, media) => format!("{text} (and {media} that are not text)"),
    }
}

/// Renders a failure's issues in full, if it has more than its message states.
fn issues(result: &ToolResult, failure: &ToolFailure) -> Option<String> {
    if failure.issues.is_empty() {
        return None;
    }
    let bold = Style::new().bold();
    let pointed = AnsiColor::Cyan.on_default();
    let count = match failure.issues.len() {
        1 => "1 issue".to_owned(),
        count => format!("{count} issues"),
    };
    let (id, tool) = (one_line(result.call_id.as_str()), one_line(result.tool.as_str()));
    let mut text = format!("{bold}{id} {tool}{bold:#}: {count}");
    for issue in &failure.issues {
        let place = if issue.pointer.is_empty() { "the arguments".to_owned() } else { one_line(&issue.pointer) };
        let message = printable(&issue.message).replace('\n', "\n    ");
        text.push_str(&format!("\n  {pointed}{place}{pointed:#}: {message}"));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use haft::run::ToolCall;
    use haft::schema::{Issue, Issues};
    use serde_json::json;

    use super::*;

    fn plain(calls: &[ViewedCall], results: &[ToolResult], width: usize) -> String {
        anstream::adapter::strip_str(&render(calls, results, width)).to_string()
    }

    fn viewed(call: &ToolCall, took: Option<u64>) -> ViewedCall {
        let mut viewed = ViewedCall::new(call);
        viewed.took = took.map(Duration::from_millis);
        viewed
    }

    fn sample() -> (Vec<ViewedCall>, Vec<ToolResult>) {
        let calls = [
            ToolCall::new("call_1", "calculate", "{}"),
            ToolCall::new("call_2", "read_file", "{}"),
            ToolCall::new("call_3", "delete_file", "{}"),
            ToolCall::new("call_4", "transfer", "{}"),
            ToolCall::new("call_5", "a_tool_with_a_very_long_name_that_does_not_fit", "{}"),
        ];
        let issues = Issues::new(vec![
            Issue::new("/path", "type", "must be a string"),
            Issue::new("", "required", "the property `line` is missing"),
        ]);
        let results = vec![
            ToolResult::ok(&calls[0], json!(0.3)),
            ToolResult::invalid_input(&calls[1], issues),
            ToolResult::denied(&calls[2], "nobody approves it"),
            ToolResult::ok(&calls[4], json!("a long text\nwith \u{1b}[31mlines ".repeat(30))),
        ];
        let times = [Some(3), None, None, None, Some(61_400)];
        let mut viewed: Vec<ViewedCall> = calls.iter().zip(times).map(|(call, took)| viewed(call, took)).collect();
        viewed[3].stage = CallStage::Suspended;
        (viewed, results)
    }

    #[test]
    fn the_summary_has_every_call_in_order() {
        let (calls, results) = sample();
        insta::assert_snapshot!("summary_100", plain(&calls, &results, 100));
    }

    #[test]
    fn the_summary_fits_a_narrow_terminal() {
        let (calls, results) = sample();
        let text = plain(&calls, &results, 40);
        insta::assert_snapshot!("summary_40", text);
        let table = text.split("\n\n").next().unwrap();
        assert!(table.lines().all(|line| unicode_width::UnicodeWidthStr::width(line) <= 40), "{table}");
    }

    #[test]
    fn nothing_is_written_about_no_calls() {
        assert_eq!(render(&[], &[], 80), "");
    }
}
