//! Times as models write them.

use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::temporal::{DateTimeParser, Pieces};
use jiff::fmt::{rfc2822, temporal};
use jiff::tz::{Disambiguation, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::WallClock;
use super::fault::DateFault;
use super::moment::{ClockChange, Moment};

/// The choice for local times that were skipped or repeated by a change of the clocks.
// The variants have no doc comments: with them, the schema would be a list of alternatives, which strict modes reject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum OnClockChange {
    #[default]
    Compatible,
    Earlier,
    Later,
    Reject,
}

/// A time that was read.
#[derive(Debug)]
pub(super) struct ReadTime {
    pub(super) at: Zoned,
    pub(super) clock_change: Option<ClockChange>,
}

impl ReadTime {
    /// Returns the time as tools return it.
    pub(super) fn moment(&self) -> Moment {
        Moment::new(&self.at, self.clock_change)
    }
}

/// The settings by which times are read.
pub(super) struct TimeReader<'c> {
    database: TimeZoneDatabase,
    clock: &'c WallClock,
    zone: Option<TimeZone>,
    on_clock_change: OnClockChange,
}

impl<'c> TimeReader<'c> {
    /// Creates a reader for a zone's local times, to which all other times are converted.
    pub(super) fn new(
        clock: &'c WallClock,
        zone: Option<&str>,
        on_clock_change: OnClockChange,
    ) -> Result<Self, DateFault> {
        let database = TimeZoneDatabase::bundled();
        let zone = zone.map(|name| time_zone(&database, name)).transpose()?;
        Ok(Self { database, clock, zone, on_clock_change })
    }

    /// Returns the zone that was asked for, or UTC.
    pub(super) fn zone(&self) -> TimeZone {
        self.zone.clone().unwrap_or(TimeZone::UTC)
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> Result<ReadTime, DateFault> {
        let now = Timestamp::try_from((self.clock)()).map_err(|source| DateFault::OutOfRange { source })?;
        Ok(instant(now.to_zoned(self.zone())))
    }

    /// Reads a time in any known notation.
    pub(super) fn read(&self, text: &str) -> Result<ReadTime, DateFault> {
        let trimmed = text.trim();
        let unreadable = || DateFault::Unreadable { text: text.to_owned() };
        if trimmed.eq_ignore_ascii_case("now") {
            return self.now();
        }
        if let Some(seconds) = trimmed.strip_prefix('@') {
            return Ok(instant(unix_time(seconds).ok_or_else(unreadable)?.to_zoned(self.zone())));
        }
        if let Ok(pieces) = Pieces::parse(trimmed) {
            return self.pieces(trimmed, &pieces);
        }
        let zoned = rfc2822::parse(trimmed).map_err(|_| unreadable())?;
        Ok(self.converted(zoned))
    }

    /// Reads a time in a `strptime` format.
    pub(super) fn read_as(&self, text: &str, format: &str) -> Result<ReadTime, DateFault> {
        let mismatch = |source| DateFault::Mismatch { text: text.to_owned(), format: format.to_owned(), source };
        let parsed = BrokenDownTime::parse(format, text).map_err(mismatch)?;
        if let Some(name) = parsed.iana_time_zone() {
            let zone = time_zone(&self.database, name)?;
            return Ok(self.converted_read(self.local(parsed.to_datetime().map_err(mismatch)?, &zone)?));
        }
        if let Ok(timestamp) = parsed.to_timestamp() {
            let zone = parsed.offset().map_or(TimeZone::UTC, TimeZone::fixed);
            return Ok(self.converted(timestamp.to_zoned(zone)));
        }
        let local = parsed.to_datetime().or_else(|_| parsed.to_date().map(DateTime::from)).map_err(mismatch)?;
        self.local(local, &self.zone())
    }

    fn pieces(&self, text: &str, pieces: &Pieces<'_>) -> Result<ReadTime, DateFault> {
        let local = pieces.date().to_datetime(pieces.time().unwrap_or_default());
        let offset = pieces.to_numeric_offset();
        match (pieces.time_zone_annotation(), offset) {
            (None, None) => self.local(local, &self.zone()),
            (None, Some(offset)) => {
                let timestamp = offset.to_timestamp(local).map_err(|source| DateFault::OutOfRange { source })?;
                Ok(self.converted(timestamp.to_zoned(TimeZone::fixed(offset))))
            }
            (Some(annotation), None) => {
                let zone = self.annotated(annotation)?;
                Ok(self.converted_read(self.local(local, &zone)?))
            }
            (Some(annotation), Some(_)) => {
                self.annotated(annotation)?;
                let parsed = DateTimeParser::new().parse_zoned_with(&self.database, text);
                parsed.map(|zoned| self.converted(zoned)).map_err(|source| DateFault::Contradiction { source })
            }
        }
    }

    fn annotated(&self, annotation: &temporal::TimeZoneAnnotation<'_>) -> Result<TimeZone, DateFault> {
        match annotation.kind() {
            temporal::TimeZoneAnnotationKind::Named(name) => time_zone(&self.database, name.as_str()),
            temporal::TimeZoneAnnotationKind::Offset(offset) => Ok(TimeZone::fixed(*offset)),
            other => Err(DateFault::UnknownZone { name: format!("{other:?}"), nearest: Vec::new() }),
        }
    }

    /// Returns the time at which a zone's clocks read this.
    fn local(&self, local: DateTime, zone: &TimeZone) -> Result<ReadTime, DateFault> {
        let ambiguous = zone.to_ambiguous_zoned(local);
        let clock_change = ClockChange::of(ambiguous.offset());
        let choice = match (self.on_clock_change, clock_change) {
            (OnClockChange::Reject, Some(change)) => {
                let how = match change {
                    ClockChange::Skipped => "does not exist",
                    ClockChange::Repeated => "occurs twice",
                };
                let zone = zone.iana_name().unwrap_or("its zone").to_owned();
                return Err(DateFault::Ambiguous { local: local.to_string(), how, zone });
            }
            (OnClockChange::Compatible | OnClockChange::Reject, _) => Disambiguation::Compatible,
            (OnClockChange::Earlier, _) => Disambiguation::Earlier,
            (OnClockChange::Later, _) => Disambiguation::Later,
        };
        let at = ambiguous.disambiguate(choice).map_err(|source| DateFault::OutOfRange { source })?;
        Ok(ReadTime { at, clock_change })
    }

    fn converted(&self, at: Zoned) -> ReadTime {
        self.converted_read(instant(at))
    }

    fn converted_read(&self, time: ReadTime) -> ReadTime {
        match &self.zone {
            Some(zone) => ReadTime { at: time.at.with_time_zone(zone.clone()), ..time },
            None => time,
        }
    }
}

fn instant(at: Zoned) -> ReadTime {
    ReadTime { at, clock_change: None }
}

/// Returns the zone for an IANA name or an offset.
pub(super) fn time_zone(database: &TimeZoneDatabase, name: &str) -> Result<TimeZone, DateFault> {
    let trimmed = name.trim();
    if trimmed.starts_with(['+', '-']) {
        let parsed = DateTimeParser::new().parse_time_zone_with(database, trimmed);
        return parsed.map_err(|_| DateFault::UnknownZone { name: name.to_owned(), nearest: Vec::new() });
    }
    match trimmed {
        "UTC" | "utc" | "Z" | "z" => return Ok(TimeZone::UTC),
        _ => {}
    }
    database.get(trimmed).map_err(|_| {
        let known: Vec<String> = database.available().map(|known| known.as_str().to_owned()).collect();
        let nearest = haft_schema::nearest(trimmed, known.iter().map(String::as_str));
        DateFault::UnknownZone { name: name.to_owned(), nearest: nearest.into_iter().map(str::to_owned).collect() }
    })
}

/// Reads Unix seconds with up to nine decimals.
fn unix_time(text: &str) -> Option<Timestamp> {
    let (negative, size) = text.strip_prefix('-').map_or((false, text), |size| (true, size));
    let (seconds, fraction) = size.split_once('.').unwrap_or((size, "0"));
    let is_number =
        |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(seconds, 15) || !is_number(fraction, 9) {
        return None;
    }
    let nanoseconds: i128 = format!("{fraction:0<9}").parse().ok()?;
    let total = seconds.parse::<i128>().ok()? * 1_000_000_000 + nanoseconds;
    Timestamp::from_nanosecond(if negative { -total } else { total }).ok()
}
