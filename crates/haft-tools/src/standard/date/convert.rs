//! `date_now`, `date_parse` and `date_format`.

use std::sync::Arc;

use haft_executor::{DefinitionError, Tool};
use jiff::fmt::strtime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fault::DateFault;
use super::moment::Moment;
use super::reading::{OnClockChange, TimeReader};
use super::{WallClock, time_help};
use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;

/// The most characters in a formatted time. A format is short and a width has at most three digits, so no more than a
/// few thousand are written before the check.
const MAX_FORMATTED: usize = 1_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NowParams {
    /// The time zone of the result, e.g. "Asia/Tokyo" or "+05:30". UTC if omitted.
    #[schemars(length(min = 1, max = 64))]
    zone: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ParseParams {
    /// The time to read.
    #[schemars(length(min = 1, max = 200))]
    time: String,
    /// A strptime format if the time is in another notation, e.g. "%d.%m.%Y %H:%M". Omit it for the other notations.
    #[schemars(length(min = 1, max = 200))]
    format: Option<String>,
    /// The zone of local times, and of the result.
    #[schemars(length(min = 1, max = 64))]
    zone: Option<String>,
    /// The choice for local times that are skipped or repeated when clocks change: the earlier or the later one, a failure
    /// (`reject`), or the earlier of two and a skipped one moved forward (`compatible`).
    #[serde(default)]
    on_clock_change: OnClockChange,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FormatParams {
    /// The time to format.
    #[schemars(length(min = 1, max = 200))]
    time: String,
    /// The strftime format, e.g. "%A, %-d %B %Y, %H:%M %Z".
    #[schemars(length(min = 1, max = 200))]
    format: String,
    /// The zone of local times, and of the result.
    #[schemars(length(min = 1, max = 64))]
    zone: Option<String>,
}

/// A time as text.
#[derive(Debug, Serialize, JsonSchema)]
struct FormattedTime {
    /// The formatted time.
    text: String,
}

/// Creates `date_now`.
pub(super) fn now(clock: &WallClock) -> Result<Tool, DefinitionError> {
    let clock = Arc::clone(clock);
    let read = move |params: &NowParams| -> Result<Moment, StandardFailure> {
        let reader = TimeReader::new(&clock, params.zone.as_deref(), OnClockChange::default())?;
        Ok(reader.now()?.moment())
    };
    pure(Tool::new("date_now"))
        .title("Current date and time")
        .describe(
            "Returns the current date and time in a time zone: RFC 3339, UTC, Unix seconds, weekday, ISO week and \
             whether daylight saving time applies.",
        )
        .example(json!({"zone": "Europe/Paris"}))
        .try_handler(move |params: NowParams, _cx| {
            let result = read(&params);
            async move { result }
        })
}

/// Creates `date_parse`.
pub(super) fn parse(clock: &WallClock) -> Result<Tool, DefinitionError> {
    let clock = Arc::clone(clock);
    let read = move |params: &ParseParams| -> Result<Moment, StandardFailure> {
        let reader = TimeReader::new(&clock, params.zone.as_deref(), params.on_clock_change)?;
        let time = match &params.format {
            Some(format) => reader.read_as(&params.time, format)?,
            None => reader.read(&params.time)?,
        };
        Ok(time.moment())
    };
    pure(Tool::new("date_parse"))
        .title("Read a date or time")
        .describe(concat!(
            "Reads a date or time and returns it in RFC 3339, UTC and Unix seconds, with weekday, ISO week and zone. \
             Also converts a time to another zone. ",
            time_help!()
        ))
        .example(json!({"time": "2024-05-01T12:00[Europe/Paris]", "zone": "America/New_York"}))
        .example(json!({"time": "31.12.2024 18:30", "format": "%d.%m.%Y %H:%M", "zone": "Europe/Berlin"}))
        .try_handler(move |params: ParseParams, _cx| {
            let result = read(&params);
            async move { result }
        })
}

/// Creates `date_format`.
pub(super) fn format(clock: &WallClock) -> Result<Tool, DefinitionError> {
    let clock = Arc::clone(clock);
    let write = move |params: &FormatParams| -> Result<FormattedTime, StandardFailure> {
        let reader = TimeReader::new(&clock, params.zone.as_deref(), OnClockChange::default())?;
        let time = reader.read(&params.time)?;
        let text = strtime::format(&params.format, &time.at).map_err(|source| DateFault::Format { source })?;
        if text.chars().count() > MAX_FORMATTED {
            return Err(DateFault::TooLong { limit: MAX_FORMATTED }.into());
        }
        Ok(FormattedTime { text })
    };
    pure(Tool::new("date_format"))
        .title("Format a date or time")
        .describe(concat!(
            "Writes a time as text in a strftime format, in English. Directives: %Y %m %d %H %M %S, %A and %a weekday, \
             %B and %b month, %-d day without zero, %I %p 12-hour clock, %j day of the year, %G-W%V ISO week, %z offset, \
             %Z abbreviation, %Q zone, %s Unix seconds, %f fraction. ",
            time_help!()
        ))
        .example(json!({"time": "2024-05-01T12:00:00Z", "format": "%A, %-d %B %Y, %H:%M %Z", "zone": "Asia/Tokyo"}))
        .try_handler(move |params: FormatParams, _cx| {
            let result = write(&params);
            async move { result }
        })
}
