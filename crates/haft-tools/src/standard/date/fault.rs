//! The reasons why there is no date or time.

use crate::standard::failure::StandardFailure;

/// The longest part of an input that a message repeats.
const MAX_QUOTE: usize = 60;
/// The longest explanation from the date library in a message.
const MAX_DETAIL: usize = 200;

#[derive(Debug, thiserror::Error)]
pub(super) enum DateFault {
    #[error(
        "`{}` is not a time: write RFC 3339 (2024-05-01T12:00:00Z), a local date or date-time (2024-05-01T12:00), RFC 2822, \
         @ and Unix seconds, or now", quote(.text)
    )]
    Unreadable { text: String },
    #[error("`{}` does not match the format `{}`: {}", quote(.text), quote(.format), detail(.source))]
    Mismatch { text: String, format: String, source: jiff::Error },
    #[error("there is no time zone `{}`; {}", quote(.name), advise(.nearest))]
    UnknownZone { name: String, nearest: Vec<String> },
    #[error("the time contradicts its zone: {}; leave out the offset or the zone", detail(.source))]
    Contradiction { source: jiff::Error },
    #[error(
        "the local time {local} {how} in {zone} because the clocks change; add an offset, or use another `on_clock_change`"
    )]
    Ambiguous { local: String, how: &'static str, zone: String },
    #[error("the format is invalid: {}; use strftime directives such as %Y-%m-%d %H:%M:%S", detail(.source))]
    Format { source: jiff::Error },
    #[error("the formatted time has more than {limit} characters; use a shorter format")]
    TooLong { limit: usize },
    #[error("the result is outside of the years -9999 to 9999: {}", detail(.source))]
    OutOfRange { source: jiff::Error },
}

impl From<DateFault> for StandardFailure {
    fn from(fault: DateFault) -> Self {
        let reason = match &fault {
            DateFault::Unreadable { .. } => "not_a_time",
            DateFault::Mismatch { .. } => "format_mismatch",
            DateFault::UnknownZone { .. } => "unknown_zone",
            DateFault::Contradiction { .. } => "contradictory_time",
            DateFault::Ambiguous { .. } => "ambiguous_local_time",
            DateFault::Format { .. } | DateFault::TooLong { .. } => "invalid_format",
            DateFault::OutOfRange { .. } => "out_of_range",
        };
        Self::new(reason, fault.to_string())
    }
}

fn quote(text: &str) -> String {
    clip(text, MAX_QUOTE)
}

fn detail(error: &jiff::Error) -> String {
    clip(&error.to_string(), MAX_DETAIL)
}

fn clip(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn advise(nearest: &[String]) -> String {
    match nearest {
        [] => "search for its name with date_zones".to_owned(),
        names => format!("did you mean {}?", names.join(", ")),
    }
}
