//! A point in time, as the tools return it.

use jiff::Zoned;
use jiff::tz::{AmbiguousOffset, Offset};
use schemars::JsonSchema;
use serde::Serialize;

/// A point in time with its local date and time.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Moment {
    /// The time in RFC 3339, with the offset of the zone.
    time: String,
    /// The zone: an IANA name, UTC or an offset.
    zone: String,
    /// The same time in UTC.
    utc: String,
    /// Seconds since 1970-01-01T00:00:00Z, rounded down.
    unix_seconds: i64,
    /// The local date.
    date: String,
    /// The name of the day, e.g. "Monday".
    weekday: String,
    /// The day of the year, from 1.
    #[schemars(range(min = 1, max = 366))]
    day_of_year: i16,
    /// The ISO 8601 week, e.g. "2024-W18".
    iso_week: String,
    /// The abbreviation of the zone at this time, e.g. "CEST".
    abbreviation: String,
    /// True if daylight saving time applies.
    daylight_saving: bool,
    /// Present if the clocks of the zone changed around the local time that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_change: Option<ClockChange>,
}

/// The relation of a local time to a change of the clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClockChange {
    /// The local time was skipped and does not exist; the returned time is another one.
    Skipped,
    /// The local time occurred twice; the returned time is one of the two.
    Repeated,
}

impl ClockChange {
    /// Returns the change that a local time falls into.
    pub(super) fn of(offset: AmbiguousOffset) -> Option<Self> {
        match offset {
            AmbiguousOffset::Unambiguous { .. } => None,
            AmbiguousOffset::Gap { .. } => Some(Self::Skipped),
            AmbiguousOffset::Fold { .. } => Some(Self::Repeated),
        }
    }
}

impl Moment {
    pub(super) fn new(at: &Zoned, clock_change: Option<ClockChange>) -> Self {
        let timestamp = at.timestamp();
        let info = at.time_zone().to_offset_info(timestamp);
        let week = at.date().iso_week_date();
        Self {
            time: timestamp.display_with_offset(at.offset()).to_string(),
            zone: zone_name(at),
            utc: timestamp.to_string(),
            unix_seconds: timestamp
                .as_nanosecond()
                .div_euclid(1_000_000_000)
                .try_into()
                .unwrap_or(timestamp.as_second()),
            date: at.date().to_string(),
            weekday: at.strftime("%A").to_string(),
            day_of_year: at.day_of_year(),
            iso_week: format!("{}-W{:02}", week.year(), week.week()),
            abbreviation: info.abbreviation().to_owned(),
            daylight_saving: info.dst().is_dst(),
            clock_change,
        }
    }
}

/// Returns the zone's name, or its offset.
fn zone_name(at: &Zoned) -> String {
    at.time_zone().iana_name().map_or_else(|| offset_text(at.offset()), str::to_owned)
}

/// Writes an offset as RFC 3339 does.
pub(super) fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    let (sign, size) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs());
    format!("{sign}{:02}:{:02}", size / 3600, size / 60 % 60)
}
