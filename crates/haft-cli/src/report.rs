//! Errors and remarks as people read them, on standard error.
//!
//! Each states what failed, where (file, line and key), and what to do.

use std::collections::BTreeMap;
use std::path::Path;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use haft::registry::file::{FileFault, FilePosition, Loaded, TrustStatus};

use crate::context::Context;
use crate::error::{CommandError, Excerpt, Fault};
use crate::exit::ExitStatus;
use crate::terminal::{Terminal, printable};

/// The number of faults of a file that are shown.
const MAX_FAULTS: usize = 20;

/// Reports arguments that can't be read, or prints the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> ExitStatus {
    // A closed standard error leaves nothing to report to.
    let _ = error.print();
    if error.exit_code() == 0 { ExitStatus::Done } else { ExitStatus::Invalid }
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

/// Reports what was left out of a workspace, and how to get it.
pub(crate) fn remarks(cx: &Context, loaded: &Loaded) {
    for remark in &loaded.remarks {
        let groups = [Level::NOTE.primary_title(printable(&remark.to_string()).into_owned())];
        cx.terminal.note(renderer(cx.terminal).render(&groups.map(Group::with_title)));
    }
    if let Some(advice) = trust_advice(loaded) {
        cx.terminal.note(renderer(cx.terminal).render(&[Group::with_title(Level::HELP.primary_title(advice))]));
    }
}

/// Returns how to trust a file from which something was left out because it is not trusted.
pub(crate) fn trust_advice(loaded: &Loaded) -> Option<String> {
    let path = loaded.path.display();
    match loaded.trust {
        TrustStatus::Trusted => None,
        _ if loaded.remarks.is_empty() => None,
        TrustStatus::Changed => Some(format!("`{path}` has changed since it was trusted; read it, then run `haft trust`")),
        TrustStatus::Unknown => Some(format!("`{path}` is not trusted; read it, then run `haft trust`")),
    }
}

/// Writes a fault with its place and advice.
pub(crate) fn write_fault(terminal: Terminal, fault: &Fault) {
    let mut message = fault.message.clone();
    for cause in &fault.causes {
        message.push_str(": ");
        message.push_str(cause);
    }
    let title = Level::ERROR.primary_title(printable(&message).into_owned());
    let mut groups = vec![match &fault.excerpt {
        Some(excerpt) => title.element(snippet(excerpt)),
        None => Group::with_title(title),
    }];
    for advice in &fault.advice {
        groups.push(Group::with_title(Level::HELP.secondary_title(printable(advice).into_owned())));
    }
    terminal.note(renderer(terminal).render(&groups));
}

/// Writes all faults of an input.
fn write_faults(terminal: Terminal, faults: &[Fault]) {
    for fault in faults.iter().take(MAX_FAULTS) {
        write_fault(terminal, fault);
    }
    let rest = faults.len().saturating_sub(MAX_FAULTS);
    if rest > 0 {
        terminal.note(format!("and {rest} more"));
    }
}

/// Writes all faults of workspace files, each with its line.
fn file_faults(terminal: Terminal, faults: &[FileFault]) {
    let mut texts: BTreeMap<&Path, Option<String>> = BTreeMap::new();
    for fault in faults.iter().take(MAX_FAULTS) {
        // The file may have changed since it was read; then the excerpt shows the line that is there now.
        let text = texts.entry(&fault.path).or_insert_with(|| std::fs::read_to_string(&fault.path).ok());
        let place = fault.position.zip(text.as_deref()).and_then(|(position, text)| offset(text, position));
        let key = if fault.key.is_empty() { String::new() } else { format!("{}: ", fault.key) };
        let message = format!("{key}{}", fault.message);
        let excerpt = place.zip(text.as_deref()).map(|(span, text)| Excerpt {
            origin: fault.path.display().to_string(),
            text: text.to_owned(),
            span,
            label: String::new(),
        });
        let message = if excerpt.is_some() { message } else { fault.to_string() };
        write_fault(terminal, &Fault { message, excerpt, ..Fault::default() });
    }
    let rest = faults.len().saturating_sub(MAX_FAULTS);
    if rest > 0 {
        terminal.note(format!("and {rest} more"));
    }
}

/// Returns the bytes of the word at a position.
fn offset(text: &str, position: FilePosition) -> Option<std::ops::Range<usize>> {
    let line_start = match position.line {
        1 => 0,
        line => text.match_indices('\n').nth(line - 2)?.0 + 1,
    };
    let line = text[line_start..].lines().next().unwrap_or_default();
    let start = line.char_indices().nth(position.column - 1).map_or(line.len(), |(at, _)| at);
    let rest = line[start..].trim_end();
    let is_word = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    let word = rest.find(|character| !is_word(character)).filter(|length| *length > 0).unwrap_or(rest.len());
    Some(line_start + start..line_start + start + word)
}

fn snippet(excerpt: &Excerpt) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
    let mut annotation = AnnotationKind::Primary.span(excerpt.span.clone());
    if !excerpt.label.is_empty() {
        annotation = annotation.label(printable(&excerpt.label).into_owned());
    }
    Snippet::source(excerpt.text.as_str()).line_start(1).path(excerpt.origin.as_str()).annotation(annotation)
}

fn renderer(terminal: Terminal) -> Renderer {
    // Styles are removed by the stream where they are not wanted.
    Renderer::styled().term_width(terminal.width())
}
