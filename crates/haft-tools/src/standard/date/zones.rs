//! `date_zones`.

use std::sync::Arc;

use haft_executor::{DefinitionError, Tool};
use jiff::tz::TimeZoneDatabase;
use jiff::{Timestamp, tz};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::moment::offset_text;
use super::reading::{OnClockChange, TimeReader, time_zone};
use super::{WallClock, time_help};
use crate::standard::annotate::pure;
use crate::standard::failure::StandardFailure;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ZonesParams {
    /// A part of the name, e.g. "berlin" or "America/". All zones if omitted.
    #[serde(default)]
    #[schemars(length(max = 64))]
    query: String,
    /// The time at which the offsets apply.
    #[serde(default = "now")]
    #[schemars(length(min = 1, max = 200))]
    at: String,
    /// The maximum number of zones.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: usize,
}

fn now() -> String {
    "now".to_owned()
}

fn default_limit() -> usize {
    20
}

/// The time zones that were found.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundZones {
    /// The number of all matching zones.
    total: usize,
    /// The first of them by name.
    zones: Vec<FoundZone>,
}

/// A time zone at one time.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundZone {
    /// The IANA name.
    zone: String,
    /// The offset from UTC, e.g. "+02:00".
    offset: String,
    /// The abbreviation, e.g. "CEST".
    abbreviation: String,
    /// True if daylight saving time applies.
    daylight_saving: bool,
    /// The next change of the clocks, in UTC, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_change: Option<String>,
}

/// Creates `date_zones`.
pub(super) fn tool(clock: &WallClock) -> Result<Tool, DefinitionError> {
    let clock = Arc::clone(clock);
    let find = move |params: &ZonesParams| find(&clock, params);
    pure(Tool::new("date_zones"))
        .title("Search time zones")
        .describe(concat!(
            "Searches the IANA time zones by a part of their name, and returns their offset, abbreviation, daylight \
             saving time and next change of the clocks at a time. ",
            time_help!()
        ))
        .example(json!({"query": "new york"}))
        .example(json!({"query": "Europe/", "at": "2024-07-01", "limit": 5}))
        .try_handler(move |params: ZonesParams, _cx| {
            let result = find(&params);
            async move { result }
        })
}

fn find(clock: &WallClock, params: &ZonesParams) -> Result<FoundZones, StandardFailure> {
    let at = TimeReader::new(clock, None, OnClockChange::default())?.read(&params.at)?.at.timestamp();
    let query = params.query.trim().replace(' ', "_").to_lowercase();
    let database = TimeZoneDatabase::bundled();
    let matches = |name: &str| name.to_lowercase().contains(&query);
    let mut names: Vec<String> =
        database.available().map(|name| name.as_str().to_owned()).filter(|name| matches(name)).collect();
    names.sort();
    names.dedup();
    let total = names.len();
    names.truncate(params.limit);
    let zones = names.into_iter().map(|name| Ok(zone(&time_zone(&database, &name)?, name, at)));
    Ok(FoundZones { total, zones: zones.collect::<Result<_, StandardFailure>>()? })
}

fn zone(zone: &tz::TimeZone, name: String, at: Timestamp) -> FoundZone {
    let info = zone.to_offset_info(at);
    FoundZone {
        zone: name,
        offset: offset_text(info.offset()),
        abbreviation: info.abbreviation().to_owned(),
        daylight_saving: info.dst().is_dst(),
        next_change: zone.following(at).next().map(|change| change.timestamp().to_string()),
    }
}
