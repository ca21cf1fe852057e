//! `date_add` and `date_diff`.

use std::sync::Arc;

use haft_executor::{DefinitionError, Tool};
use jiff::{Span, Unit, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fault::DateFault;
use super::moment::{ClockChange, Moment};
use super::reading::{OnClockChange, ReadTime, TimeReader};
use super::{WallClock, time_help};
use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddParams {
    /// The time to start from.
    #[schemars(length(min = 1, max = 200))]
    time: String,
    /// The zone of local times, and of the result.
    #[schemars(length(min = 1, max = 64))]
    zone: Option<String>,
    /// Calendar years to add; negative to subtract, as for every unit.
    #[serde(default)]
    #[schemars(range(min = -19998, max = 19998))]
    years: i64,
    /// Calendar months.
    #[serde(default)]
    #[schemars(range(min = -239_976, max = 239_976))]
    months: i64,
    /// Calendar weeks.
    #[serde(default)]
    #[schemars(range(min = -1_043_497, max = 1_043_497))]
    weeks: i64,
    /// Calendar days, which have 23 or 25 hours when clocks change.
    #[serde(default)]
    #[schemars(range(min = -7_304_484, max = 7_304_484))]
    days: i64,
    /// Hours of 60 minutes.
    #[serde(default)]
    #[schemars(range(min = -175_307_616, max = 175_307_616))]
    hours: i64,
    /// Minutes.
    #[serde(default)]
    #[schemars(range(min = -10_518_456_960_i64, max = 10_518_456_960_i64))]
    minutes: i64,
    /// Seconds.
    #[serde(default)]
    #[schemars(range(min = -631_107_417_600_i64, max = 631_107_417_600_i64))]
    seconds: i64,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DiffParams {
    /// The start.
    #[schemars(length(min = 1, max = 200))]
    from: String,
    /// The end; before the start for a negative result.
    #[schemars(length(min = 1, max = 200))]
    to: String,
    /// The zone of local times, and the one whose calendar counts. That of `from` if omitted.
    #[schemars(length(min = 1, max = 64))]
    zone: Option<String>,
    /// The largest unit of the result.
    #[serde(default)]
    largest_unit: CalendarUnit,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum CalendarUnit {
    Years,
    Months,
    Weeks,
    #[default]
    Days,
    Hours,
    Minutes,
    Seconds,
}

impl CalendarUnit {
    fn unit(self) -> Unit {
        match self {
            Self::Years => Unit::Year,
            Self::Months => Unit::Month,
            Self::Weeks => Unit::Week,
            Self::Days => Unit::Day,
            Self::Hours => Unit::Hour,
            Self::Minutes => Unit::Minute,
            Self::Seconds => Unit::Second,
        }
    }
}

/// The time between two times. All numbers are negative if the end is before the start.
#[derive(Debug, Serialize, JsonSchema)]
struct TimeDifference {
    /// The difference as an ISO 8601 duration, e.g. "P1M2DT3H".
    duration: String,
    years: i64,
    months: i64,
    weeks: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    /// Seconds with their fraction.
    seconds: f64,
    /// The whole difference in the largest unit, with its fraction.
    total: f64,
    /// The whole difference in seconds.
    total_seconds: f64,
}

/// Creates `date_add`.
pub(super) fn add(clock: &WallClock) -> Result<Tool, DefinitionError> {
    let clock = Arc::clone(clock);
    let sum = move |params: &AddParams| -> Result<Moment, StandardFailure> {
        let reader = TimeReader::new(&clock, params.zone.as_deref(), OnClockChange::default())?;
        let start = reader.read(&params.time)?;
        Ok(add_span(&start.at, params).map_err(|source| DateFault::OutOfRange { source })?.moment())
    };
    pure(Tool::new("date_add"))
        .title("Add to a date or time")
        .describe(concat!(
            "Adds years, months, weeks, days, hours, minutes and seconds to a time; negative numbers subtract. \
             Calendar units keep the local time of the zone, and a day that a month lacks becomes its last day: \
             2024-01-31 plus one month is 2024-02-29. Larger units are added first. ",
            time_help!()
        ))
        .example(json!({"time": "2024-01-31", "months": 1}))
        .example(json!({"time": "now", "zone": "America/New_York", "days": -1, "hours": 6}))
        .try_handler(move |params: AddParams, _cx| {
            let result = sum(&params);
            async move { result }
        })
}

/// Creates `date_diff`.
pub(super) fn diff(clock: &WallClock) -> Result<Tool, DefinitionError> {
    let clock = Arc::clone(clock);
    let difference = move |params: &DiffParams| difference(&clock, params);
    pure(Tool::new("date_diff"))
        .title("Difference of two dates or times")
        .describe(concat!(
            "Returns the time from one time to another, split into units from `largest_unit` (days by default) down to \
             seconds, and as totals. Calendar units follow the zone, so a day may have 23 or 25 hours. ",
            time_help!()
        ))
        .example(json!({"from": "1990-07-14", "to": "2024-05-01", "largest_unit": "years"}))
        .example(json!({"from": "now", "to": "2030-01-01T00:00:00Z", "largest_unit": "hours"}))
        .try_handler(move |params: DiffParams, _cx| {
            let result = difference(&params);
            async move { result }
        })
}

fn difference(clock: &WallClock, params: &DiffParams) -> Result<TimeDifference, StandardFailure> {
    let out_of_range = |source| DateFault::OutOfRange { source };
    let reader = TimeReader::new(clock, params.zone.as_deref(), OnClockChange::default())?;
    let (from, to) = (reader.read(&params.from)?.at, reader.read(&params.to)?.at);
    // Calendar units belong to one zone.
    let to = to.with_time_zone(from.time_zone().clone());
    let unit = params.largest_unit.unit();
    let span = from.until((unit, &to)).map_err(out_of_range)?;
    let fraction = span.get_milliseconds() * 1_000_000 + span.get_microseconds() * 1_000 + span.get_nanoseconds();
    Ok(TimeDifference {
        duration: span.to_string(),
        years: span.get_years().into(),
        months: span.get_months().into(),
        weeks: span.get_weeks().into(),
        days: span.get_days().into(),
        hours: span.get_hours().into(),
        minutes: span.get_minutes(),
        seconds: float(span.get_seconds()) + float(fraction) / 1e9,
        total: span.total((unit, &from)).map_err(out_of_range)?,
        total_seconds: to.timestamp().duration_since(from.timestamp()).as_secs_f64(),
    })
}

#[allow(clippy::cast_precision_loss, reason = "seconds of all representable times are below 2^53")]
fn float(value: i64) -> f64 {
    value as f64
}

/// Adds months, then days, to the local time, and then seconds to the resulting instant. A library span has one sign
/// for all units; here each unit has its own.
fn add_span(start: &Zoned, params: &AddParams) -> Result<ReadTime, jiff::Error> {
    // The parameters are limited, so no product overflows.
    let months = params.years * 12 + params.months;
    let days = params.weeks * 7 + params.days;
    let seconds = (params.hours * 60 + params.minutes) * 60 + params.seconds;
    let mut time = ReadTime { at: start.clone(), clock_change: None };
    if months != 0 || days != 0 {
        let local = start.datetime().checked_add(Span::new().try_months(months)?)?;
        let local = local.checked_add(Span::new().try_days(days)?)?;
        let ambiguous = start.time_zone().to_ambiguous_zoned(local);
        time.clock_change = ClockChange::of(ambiguous.offset());
        time.at = ambiguous.compatible()?;
    }
    time.at = time.at.checked_add(Span::new().try_seconds(seconds)?)?;
    Ok(time)
}
