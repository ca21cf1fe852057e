//! A document's texts for a model, with bounded length.

use super::plain_text::plain;

/// The longest description, in characters.
const MAX_CHARS: usize = 1_024;
/// The longest title, in characters.
const MAX_TITLE: usize = 100;

/// Returns a text without HTML and surrounding white space. A very long one is cut off with an ellipsis.
pub(super) fn capped(text: &str) -> String {
    cut(&plain(text))
}

fn cut(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_CHARS) {
        None => text.to_owned(),
        Some(_) => {
            let end = text.char_indices().nth(MAX_CHARS - 1).map_or(text.len(), |(index, _)| index);
            format!("{}…", text.get(..end).unwrap_or(text).trim_end())
        }
    }
}

/// Joins a summary and a description. A description that repeats the summary is enough.
pub(super) fn description(summary: Option<&str>, description: Option<&str>) -> Option<String> {
    let present =
        |text: Option<&str>| text.map(plain).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    match (present(summary), present(description)) {
        (Some(summary), Some(description)) if description.starts_with(&*summary) => Some(cut(&description)),
        (Some(summary), Some(description)) => Some(cut(&format!("{summary}\n\n{description}"))),
        (one, other) => one.or(other).map(|text| cut(&text)),
    }
}

/// Returns a summary as a title: its first line, without a final full stop.
pub(super) fn title(summary: &str) -> String {
    let summary = plain(summary);
    let line = summary.trim_start().lines().next().unwrap_or_default().trim_end();
    let line = line.strip_suffix('.').unwrap_or(line);
    line.chars().take(MAX_TITLE).collect()
}
