//! Errors and remarks as people read them, on standard error.
//!
//! Each states what failed, where (file, line and key), and what to do.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use haft::workspace::{FileFault, Loaded, TrustStatus};

use crate::command::call::argument::is_assignment;
use crate::context::Context;
use crate::error::{CommandError, Excerpt, Fault};
use crate::exit::ExitStatus;
use crate::terminal::{Terminal, escaped, printable, replaced, wrapped};

/// The most faults to show for a file.
const MAX_FAULTS: usize = 20;

/// The most remarks to show about a file.
const MAX_REMARKS: usize = 5;

/// The longest line to show, in bytes.
const MAX_LINE: usize = 4096;

/// Reports arguments that can't be read, or prints the requested help.
pub(crate) fn usage(mut error: clap::Error) -> ExitStatus {
    if let Some(tip) = assignment_tip(&error) {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    // A closed standard error leaves nothing to report to.
    let _ = error.print();
    if error.exit_code() == 0 { ExitStatus::Done } else { ExitStatus::Invalid }
}

/// Returns the remedy for `haft call TOOL a=1 b=2`, whose second argument is one too many.
fn assignment_tip(error: &clap::Error) -> Option<String> {
    let ContextValue::String(argument) = error.get(ContextKind::InvalidArg)? else { return None };
    let usage = error.get(ContextKind::Usage)?.to_string();
    let is_meant = error.kind() == ErrorKind::UnknownArgument && is_assignment(argument) && usage.contains("haft call");
    is_meant.then(|| format!("to set an argument of the tool, use '--arg {argument}'"))
}

/// Reports a runtime that can't be started.
pub(crate) fn runtime(error: &std::io::Error) -> ExitStatus {
    let terminal = Terminal::detect();
    write_fault(terminal, &Fault::new("the runtime can't be started").cause(error));
    ExitStatus::Invalid
}

/// Reports the error that ended a command.
pub(crate) fn error(cx: &Context, error: &CommandError) -> ExitStatus {
    match error {
        CommandError::Workspace(file) => file_faults(cx.terminal, &file.faults),
        CommandError::Invalid(fault) => write_fault(cx.terminal, fault),
        CommandError::InvalidInput(faults) => write_faults(cx.terminal, faults),
        CommandError::Output(error) => write_fault(cx.terminal, &Fault::new("can't write the output").cause(error)),
        CommandError::Interrupted => cx.terminal.note("interrupted"),
    }
    error.status()
}

/// Reports what was set aside or left out from a workspace, and how to get it.
pub(crate) fn remarks(cx: &Context, loaded: &Loaded) {
    let faults = loaded.set_aside.iter().flat_map(|entry| entry.faults.iter().map(move |fault| (fault, &entry.key)));
    let faults = faults.map(|(fault, key)| format!("{fault}; `{key}` is set aside"));
    // The file wrote parts of them: each stays one line, or it could forge others.
    let remarks = faults.chain(loaded.remarks.iter().map(ToString::to_string));
    let remarks: Vec<String> = remarks.map(|remark| escaped(&remark)).collect();
    // Show one more instead of a line that says that there is one more.
    let shown = if remarks.len() > MAX_REMARKS + 1 { MAX_REMARKS } else { remarks.len() };
    for remark in &remarks[..shown] {
        note(cx, remark);
    }
    if let more @ 1.. = remarks.len() - shown {
        note(cx, &format!("{more} more remarks about `{}` are listed by `haft check`", loaded.path.display()));
    }
    if let Some(advice) = trust_advice(loaded) {
        help(cx, &advice);
    }
}

/// Writes a remark.
pub(crate) fn note(cx: &Context, text: &str) {
    write_titled(cx, Level::NOTE, text);
}

/// Writes advice.
pub(crate) fn help(cx: &Context, text: &str) {
    write_titled(cx, Level::HELP, text);
}

fn write_titled(cx: &Context, level: Level<'static>, text: &str) {
    let title = level.primary_title(message_text(text, cx.terminal.message_width()));
    cx.terminal.note(renderer(cx.terminal).render(&[Group::with_title(title)]));
}

/// Returns how to trust a file that lost something because it is not trusted.
pub(crate) fn trust_advice(loaded: &Loaded) -> Option<String> {
    let path = loaded.path.display();
    match loaded.trust {
        TrustStatus::Trusted => None,
        _ if !loaded.needs_trust() => None,
        TrustStatus::Changed => {
            Some(format!("`{path}` has changed since it was trusted; read it, then run `haft trust`"))
        }
        TrustStatus::Unknown => Some(format!("`{path}` is not trusted; read it, then run `haft trust`")),
    }
}

/// Writes a fault with its place and advice.
pub(crate) fn write_fault(terminal: Terminal, fault: &Fault) {
    terminal.note(render(fault, terminal.width(), terminal.message_width()));
}

/// Returns a message that shows every character, broken between words behind its level: `error: `.
fn message_text(text: &str, width: Option<usize>) -> String {
    const LEVEL: usize = 7;
    const NARROWEST: usize = 20;
    let text = printable(text);
    match width.map(|width| width.saturating_sub(LEVEL)).filter(|width| *width >= NARROWEST) {
        Some(width) => wrapped(&text, width, 0),
        None => text.into_owned(),
    }
}

/// Renders a fault for a width, with messages for another. The stream removes styles where they are not wanted.
fn render(fault: &Fault, width: usize, message_width: Option<usize>) -> String {
    let mut message = fault.message.clone();
    for cause in &fault.causes {
        message.push_str(": ");
        message.push_str(cause);
    }
    let place = fault.excerpt.as_deref().map(ExcerptLine::of);
    if let Some((excerpt, ExcerptLine { is_shown: false, .. })) = fault.excerpt.as_ref().zip(place.as_ref())
        && !excerpt.label.is_empty()
    {
        // The label has no line to stand at.
        message.push_str(": ");
        message.push_str(&excerpt.label);
    }
    let origin = fault.excerpt.as_ref().map(|excerpt| printable(&excerpt.origin)).unwrap_or_default();
    let title = Level::ERROR.primary_title(message_text(&message, message_width));
    let mut groups = vec![match (&fault.excerpt, place) {
        (Some(excerpt), Some(place)) if place.is_shown => title.element(snippet(excerpt, &place, &origin)),
        (Some(_), Some(place)) => title.element(Origin::path(&*origin).line(place.line).char_column(place.column)),
        _ => Group::with_title(title),
    }];
    let renderer = Renderer::styled().term_width(width);
    let advice = fault.advice.iter().map(|advice| message_text(advice, message_width));
    if fault.excerpt.is_some() {
        groups.extend(advice.map(|advice| Group::with_title(Level::HELP.secondary_title(advice))));
        return renderer.render(&groups);
    }
    // A line that belongs to an excerpt joins the groups in one report.
    let helps = advice.map(|advice| renderer.render(&[Group::with_title(Level::HELP.primary_title(advice))]));
    std::iter::once(renderer.render(&groups)).chain(helps).collect::<Vec<_>>().join("\n")
}

/// Writes all faults in an input.
fn write_faults(terminal: Terminal, faults: &[Fault]) {
    for fault in faults.iter().take(MAX_FAULTS) {
        write_fault(terminal, fault);
    }
    let rest = faults.len().saturating_sub(MAX_FAULTS);
    if rest > 0 {
        terminal.note(format!("and {rest} more"));
    }
}

/// Writes all faults in workspace files, each with its line.
fn file_faults(terminal: Terminal, faults: &[FileFault]) {
    let mut texts: BTreeMap<&Path, Option<String>> = BTreeMap::new();
    for fault in faults.iter().take(MAX_FAULTS) {
        // The file may have changed since it was read; then the excerpt shows the line that is there now.
        let text = texts.entry(&fault.path).or_insert_with(|| regular_text(&fault.path));
        let place = fault
            .position
            .zip(text.as_deref())
            .and_then(|(position, text)| offset(text, position.line, position.column));
        let key = if fault.key.is_empty() { String::new() } else { format!("{}: ", fault.key) };
        let message = escaped(&format!("{key}{}", fault.message));
        let excerpt = place.zip(text.as_deref()).map(|(span, text)| Excerpt {
            origin: fault.path.display().to_string(),
            text: text.to_owned(),
            span,
            label: String::new(),
        });
        let message = if excerpt.is_some() { message } else { escaped(&fault.to_string()) };
        write_fault(terminal, &Fault { message, excerpt: excerpt.map(Box::new), ..Fault::default() });
    }
    let rest = faults.len().saturating_sub(MAX_FAULTS);
    if rest > 0 {
        terminal.note(format!("and {rest} more"));
    }
}

/// Returns the bytes of the word or quoted text at a position.
fn offset(text: &str, line: usize, column: usize) -> Option<Range<usize>> {
    let line_start = match line {
        1 => 0,
        line => text.match_indices('\n').nth(line.checked_sub(2)?)?.0 + 1,
    };
    let line = text[line_start..].lines().next().unwrap_or_default();
    let start = line.char_indices().nth(column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
    let rest = line[start..].trim_end();
    let is_word = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    let length = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted_len(rest, quote),
        _ => rest.find(|character| !is_word(character)).filter(|length| *length > 0),
    };
    Some(line_start + start..line_start + start + length.unwrap_or(rest.len()))
}

/// Returns the length of the quoted text that a line begins with, if it ends in the line.
fn quoted_len(line: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    let end = line.char_indices().skip(1).find(|(_, character)| {
        let is_end = *character == quote && !is_escaped;
        is_escaped = quote == '"' && *character == '\\' && !is_escaped;
        is_end
    });
    end.map(|(at, _)| at + quote.len_utf8())
}

/// An excerpt's line: only this one is rendered, whatever the text's size.
#[derive(Debug, PartialEq, Eq)]
struct ExcerptLine {
    /// The line's number, from one.
    line: usize,
    /// The character in it, from one.
    column: usize,
    /// The line's bytes in the text, without its break.
    bytes: Range<usize>,
    /// False if the line is too long to read.
    is_shown: bool,
}

impl ExcerptLine {
    /// Finds the line in which the span starts. A span beyond the text is at its end.
    fn of(excerpt: &Excerpt) -> Self {
        let text = excerpt.text.as_str();
        let mut at = excerpt.span.start.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        let line = text[..start].matches('\n').count() + 1;
        let column = text[start..at].chars().count() + 1;
        Self { line, column, bytes: start..end, is_shown: end - start <= MAX_LINE }
    }
}

/// Returns the line with what is wrong in it. Nothing in it changes what the terminal shows around it.
fn snippet<'a>(
    excerpt: &'a Excerpt,
    place: &ExcerptLine,
    origin: &'a str,
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let text = &excerpt.text[place.bytes.clone()];
    // The place counts bytes of what is shown.
    let inside = |at: usize| -> usize {
        let at = at.clamp(place.bytes.start, place.bytes.end) - place.bytes.start;
        let before = text.char_indices().take_while(|(start, _)| *start < at);
        before.map(|(_, character)| replaced(character).len_utf8()).sum()
    };
    let span = inside(excerpt.span.start)..inside(excerpt.span.end.max(excerpt.span.start));
    let mut annotation = AnnotationKind::Primary.span(span);
    if !excerpt.label.is_empty() {
        annotation = annotation.label(printable(&excerpt.label).into_owned());
    }
    Snippet::source(text.chars().map(replaced).collect::<String>())
        .line_start(place.line)
        .path(origin)
        .annotation(annotation)
}

fn renderer(terminal: Terminal) -> Renderer {
    // Styles are removed by the stream where they are not wanted.
    Renderer::styled().term_width(terminal.width())
}

/// Returns a regular file's text. Anything else, such as a pipe, could be read forever.
fn regular_text(path: &Path) -> Option<String> {
    path.is_file().then(|| std::fs::read_to_string(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str, span: Range<usize>) -> Fault {
        let excerpt = Excerpt {
            origin: "haft\u{1b}.toml".to_owned(),
            text: text.to_owned(),
            span,
            label: "an array is expected".to_owned(),
        };
        Fault::new("invalid type").excerpt(excerpt).advice("write `[]`")
    }

    fn plain(fault: &Fault, width: usize) -> String {
        anstream::adapter::strip_str(&render(fault, width, None)).to_string()
    }

    #[test]
    fn a_fault_shows_its_line_and_what_to_do() {
        insta::assert_snapshot!(plain(&fault("[[tool]]\nallow = \"x\"\nlast = 1\n", 17..20), 80));
    }

    #[test]
    fn control_characters_of_a_text_do_not_reach_the_terminal() {
        let hidden = ['\u{1b}', '\u{202e}', '\u{7}', '\u{9b}', '\u{61c}', '\u{200b}', '\u{feff}'];
        let line = format!("a = \"{}\"\tb = üx", hidden.iter().collect::<String>());
        let text = plain(&fault(&line, line.len() - 1..line.len()), 80);
        assert!(!text.contains(hidden), "{text:?}");
        // The place stays under its character.
        let lines: Vec<&str> = text.lines().collect();
        let column = |text: &str, mark: char| text.chars().position(|character| character == mark);
        assert_eq!(column(lines[3], 'x'), column(lines[4], '^'), "{text}");
    }

    #[test]
    fn a_long_line_is_cut_around_its_place() {
        let text = format!("key = [{}", "1, ".repeat(300));
        insta::assert_snapshot!(plain(&fault(&text, 450..451), 40));
    }

    #[test]
    fn a_huge_line_is_named_and_not_shown() {
        let text = format!("first\n{}", "ü".repeat(1_000_000));
        insta::assert_snapshot!(plain(&fault(&text, 1_000_006..1_000_008), 60));
    }

    #[test]
    fn a_place_at_the_end_or_beyond_is_at_the_end() {
        for span in [6..6, 6..9, 900..901] {
            let text = plain(&fault("a = 1\n", span.clone()), 60);
            assert!(text.contains(":2:1"), "{span:?}\n{text}");
        }
        let inside = ExcerptLine::of(fault("ü", 1..2).excerpt.as_ref().unwrap());
        assert_eq!((inside.line, inside.column), (1, 1));
    }

    #[test]
    fn causes_and_advice_are_listed() {
        let mut fault = Fault::new("can't read `a\nb`").advice("first").advice("second");
        fault.causes.push("permission denied".to_owned());
        insta::assert_snapshot!(plain(&fault, 40));
    }

    #[test]
    fn messages_to_a_person_are_broken_between_words() {
        let fault = Fault::new("there is no tool with this long name").advice("look at the list of all tools first");
        insta::assert_snapshot!(anstream::adapter::strip_str(&render(&fault, 30, Some(30))));
    }

    #[test]
    fn the_place_of_a_value_in_quotes_ends_with_the_quotes() {
        for (line, expected) in [
            (r#"a = { when = "args.n >", name = "r" }"#, r#""args.n >""#),
            (r#"a = { when = "x == \"y\"", b = 1 }"#, r#""x == \"y\"""#),
            (r"a = { when = 'c:\', b = 'd' }", r"'c:\'"),
            (r#"a = { when = "open, b = 1 }"#, r#""open, b = 1 }"#),
            ("a = { when = ten, b = 1 }", "ten"),
            ("a = { when = [1, 2] }", "[1, 2] }"),
        ] {
            let text = format!("# first\n{line}\nlast = 1\n");
            assert_eq!(&text[offset(&text, 2, 14).unwrap()], expected);
        }
    }

    #[test]
    fn the_word_at_a_position_is_found() {
        let at = |line, column| offset("ab = 1\nkey-x = 2", line, column);
        assert_eq!(at(2, 1), Some(7..12));
        assert_eq!(at(1, 99), Some(6..6));
        assert_eq!(at(9, 1), None);
    }
}
