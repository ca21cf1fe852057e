//! Dates, times and zones.

use haft_core::FailureKind;
use serde_json::{Value, json};

use super::{call, kit};

#[tokio::test]
async fn the_current_time_is_that_of_the_clock() {
    let kit = kit();
    let now = call(&kit, "date_now", json!({"zone": "Asia/Kolkata"})).await.unwrap();
    assert_eq!(
        now,
        json!({
            "time": "2024-05-01T17:30:00.5+05:30",
            "zone": "Asia/Kolkata",
            "utc": "2024-05-01T12:00:00.5Z",
            "unix_seconds": 1_714_564_800,
            "date": "2024-05-01",
            "weekday": "Wednesday",
            "day_of_year": 122,
            "iso_week": "2024-W18",
            "abbreviation": "IST",
            "daylight_saving": false,
        })
    );
    assert_eq!(call(&kit, "date_now", json!({})).await.unwrap()["zone"], "UTC");
    assert_eq!(call(&kit, "date_parse", json!({"time": " NOW "})).await.unwrap()["unix_seconds"], 1_714_564_800);
}

#[tokio::test]
async fn times_are_read_in_every_notation() {
    let kit = kit();
    for (time, zone, expected) in [
        ("2024-05-01T12:00:00Z", None, "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T12:00:00Z", Some("America/New_York"), "2024-05-01T08:00:00-04:00"),
        ("2024-05-01t12:00:00z", None, "2024-05-01T12:00:00+00:00"),
        ("2024-05-01 12:00:00Z", None, "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T12:00:00.123456789+02:00", None, "2024-05-01T12:00:00.123456789+02:00"),
        ("2024-05-01", None, "2024-05-01T00:00:00+00:00"),
        ("2024-05-01", Some("Europe/Paris"), "2024-05-01T00:00:00+02:00"),
        ("2024-05-01T12:00", Some("+05:30"), "2024-05-01T12:00:00+05:30"),
        ("2024-05-01T12:00", Some("europe/paris"), "2024-05-01T12:00:00+02:00"),
        ("20240501T120000", None, "2024-05-01T12:00:00+00:00"),
        ("2024-05-01T12:00[Europe/Paris]", None, "2024-05-01T12:00:00+02:00"),
        ("2024-05-01T12:00[Europe/Paris]", Some("Asia/Tokyo"), "2024-05-01T19:00:00+09:00"),
        ("2024-05-01T12:00+02:00[Europe/Paris]", None, "2024-05-01T12:00:00+02:00"),
        ("Wed, 1 May 2024 12:00:00 +0200", None, "2024-05-01T12:00:00+02:00"),
        ("@1714564800", None, "2024-05-01T12:00:00+00:00"),
        ("@1714564800.25", Some("Europe/Paris"), "2024-05-01T14:00:00.25+02:00"),
        ("@-1", None, "1969-12-31T23:59:59+00:00"),
        ("-009999-01-03T00:00:00Z", None, "-009999-01-03T00:00:00+00:00"),
    ] {
        let found = call(&kit, "date_parse", json!({"time": time, "zone": zone})).await;
        let found = found.unwrap_or_else(|failed| panic!("{time}: {failed:?}"));
        assert_eq!(found["time"], expected, "{time} {zone:?}");
    }
}

#[tokio::test]
async fn formats_are_read_and_written() {
    let kit = kit();
    for (time, format, zone, expected) in [
        ("31.12.2024 18:30", "%d.%m.%Y %H:%M", "Europe/Berlin", "2024-12-31T18:30:00+01:00"),
        ("May 1, 2024", "%B %d, %Y", "UTC", "2024-05-01T00:00:00+00:00"),
        ("2024-05-01 12:00 -0700", "%Y-%m-%d %H:%M %z", "UTC", "2024-05-01T19:00:00+00:00"),
        ("1714564800", "%s", "Asia/Tokyo", "2024-05-01T21:00:00+09:00"),
        ("2024-05-01 12:00 Europe/Paris", "%Y-%m-%d %H:%M %Q", "UTC", "2024-05-01T10:00:00+00:00"),
    ] {
        let arguments = json!({"time": time, "format": format, "zone": zone});
        let found = call(&kit, "date_parse", arguments).await.unwrap_or_else(|failed| panic!("{time}: {failed:?}"));
        assert_eq!(found["time"], expected, "{time}");
    }
    for (format, expected) in [
        ("%A, %-d %B %Y, %H:%M %Z", "Wednesday, 1 May 2024, 21:00 JST"),
        ("%G-W%V-%u %j", "2024-W18-3 122"),
        ("%I:%M %p", "09:00 PM"),
        ("%s %z %Q", "1714564800 +0900 Asia/Tokyo"),
        ("100%%", "100%"),
    ] {
        let arguments = json!({"time": "2024-05-01T12:00:00Z", "format": format, "zone": "Asia/Tokyo"});
        assert_eq!(call(&kit, "date_format", arguments).await.unwrap()["text"], expected, "{format}");
    }
}

#[tokio::test]
async fn changes_of_the_clocks_are_reported_and_decided() {
    let kit = kit();
    // In New York, 02:30 was skipped on 10 March 2024, and 01:30 occurred twice on 3 November.
    for (time, choice, expected, change) in [
        ("2024-03-10T02:30", "compatible", "2024-03-10T03:30:00-04:00", json!("skipped")),
        ("2024-03-10T02:30", "earlier", "2024-03-10T01:30:00-05:00", json!("skipped")),
        ("2024-03-10T02:30", "later", "2024-03-10T03:30:00-04:00", json!("skipped")),
        ("2024-11-03T01:30", "compatible", "2024-11-03T01:30:00-04:00", json!("repeated")),
        ("2024-11-03T01:30", "later", "2024-11-03T01:30:00-05:00", json!("repeated")),
        ("2024-11-03T01:30-05:00", "reject", "2024-11-03T01:30:00-05:00", json!(null)),
        ("2024-11-03T02:30", "reject", "2024-11-03T02:30:00-05:00", json!(null)),
    ] {
        let arguments = json!({"time": time, "zone": "America/New_York", "on_clock_change": choice});
        let found = call(&kit, "date_parse", arguments).await.unwrap();
        assert_eq!((&found["time"], &found["clock_change"]), (&json!(expected), &change), "{time} {choice}");
    }
    for time in ["2024-03-10T02:30", "2024-11-03T01:30"] {
        let arguments = json!({"time": time, "zone": "America/New_York", "on_clock_change": "reject"});
        assert_eq!(call(&kit, "date_parse", arguments).await.unwrap_err().reason, "ambiguous_local_time");
    }
}

#[tokio::test]
async fn spans_are_added_by_calendar_and_clock() {
    let kit = kit();
    for (time, span, expected) in [
        ("2024-01-31", json!({"months": 1}), "2024-02-29T00:00:00+00:00"),
        ("2023-01-31", json!({"months": 1}), "2023-02-28T00:00:00+00:00"),
        ("2024-02-29", json!({"years": 1}), "2025-02-28T00:00:00+00:00"),
        ("2024-02-29", json!({"years": -4}), "2020-02-29T00:00:00+00:00"),
        ("2024-12-31T23:59:59Z", json!({"seconds": 1}), "2025-01-01T00:00:00+00:00"),
        ("2024-05-01", json!({"weeks": 2, "days": -1}), "2024-05-14T00:00:00+00:00"),
        ("2024-05-01", json!({}), "2024-05-01T00:00:00+00:00"),
        ("2024-03-31", json!({"months": -1, "days": 2, "hours": -1}), "2024-03-01T23:00:00+00:00"),
        ("2024-05-01", json!({"years": -1, "months": 13}), "2024-06-01T00:00:00+00:00"),
        ("2024-11-03T01:30-05:00[America/New_York]", json!({"seconds": 0}), "2024-11-03T01:30:00-05:00"),
        ("2024-03-09T02:30[America/New_York]", json!({"days": 1}), "2024-03-10T03:30:00-04:00"),
        // A day keeps the local time across a change of the clocks, 24 hours do not.
        ("2024-03-09T12:00[America/New_York]", json!({"days": 1}), "2024-03-10T12:00:00-04:00"),
        ("2024-03-09T12:00[America/New_York]", json!({"hours": 24}), "2024-03-10T13:00:00-04:00"),
    ] {
        let mut arguments = span.clone();
        arguments["time"] = json!(time);
        let found = call(&kit, "date_add", arguments).await;
        let found = found.unwrap_or_else(|failed| panic!("{time} {span}: {failed:?}"));
        assert_eq!(found["time"], expected, "{time} {span}");
    }
}

#[tokio::test]
async fn differences_have_parts_and_totals() {
    let kit = kit();
    let part = |found: &Value, unit: &str| found[unit].as_f64().unwrap();
    for (from, to, unit, duration, total) in [
        ("1990-07-14", "2024-05-01", "years", "P33Y9M17D", 33.797_814),
        ("2024-01-31", "2024-03-01", "months", "P1M1D", 1.032_258),
        ("2024-05-01", "2024-05-15", "weeks", "P2W", 2.0),
        ("2024-05-01", "2024-04-30", "days", "-P1D", -1.0),
        ("2024-05-01T00:00:00Z", "2024-05-02T01:30:00Z", "hours", "PT25H30M", 25.5),
        ("2024-05-01T00:00:00Z", "2024-05-01T00:01:00.25Z", "seconds", "PT60.25S", 60.25),
        ("2024-03-10T00:00[America/New_York]", "2024-03-11T00:00[America/New_York]", "days", "P1D", 1.0),
        ("2024-03-10T00:00[America/New_York]", "2024-03-11T00:00[America/New_York]", "hours", "PT23H", 23.0),
        ("2024-05-01T12:00+02:00", "2024-05-01T12:00Z", "minutes", "PT120M", 120.0),
        ("now", "now", "days", "PT0S", 0.0),
    ] {
        let found = call(&kit, "date_diff", json!({"from": from, "to": to, "largest_unit": unit})).await;
        let found = found.unwrap_or_else(|failed| panic!("{from} {to}: {failed:?}"));
        assert_eq!(found["duration"], duration, "{from} {to}");
        assert!((part(&found, "total") - total).abs() < 1e-4, "{from} {to}: {found}");
    }
    let found = call(&kit, "date_diff", json!({"from": "2024-05-01", "to": "2024-05-02T03:04:05.5Z"})).await.unwrap();
    let parts = ["days", "hours", "minutes", "seconds", "total_seconds"].map(|unit| found[unit].clone());
    assert_eq!(json!(parts), json!([1, 3, 4, 5.5, 97_445.5]));
}

#[tokio::test]
async fn zones_are_found_by_a_part_of_their_name() {
    let kit = kit();
    let found = call(&kit, "date_zones", json!({"query": "new york", "at": "2024-07-01"})).await.unwrap();
    assert_eq!(
        found,
        json!({"total": 1, "zones": [{
            "zone": "America/New_York",
            "offset": "-04:00",
            "abbreviation": "EDT",
            "daylight_saving": true,
            "next_change": "2024-11-03T06:00:00Z",
        }]})
    );
    let all = call(&kit, "date_zones", json!({})).await.unwrap();
    assert!(all["total"].as_u64().unwrap() > 400 && all["zones"].as_array().unwrap().len() == 20);
    assert_eq!(call(&kit, "date_zones", json!({"query": "atlantis"})).await.unwrap()["total"], 0);
}

#[tokio::test]
async fn invalid_times_fail_with_their_reason() {
    let kit = kit();
    for (tool, arguments, reason) in [
        ("date_parse", json!({"time": "yesterday"}), "not_a_time"),
        ("date_parse", json!({"time": "2024-02-30"}), "not_a_time"),
        ("date_parse", json!({"time": "2024-13-01"}), "not_a_time"),
        ("date_parse", json!({"time": "2024-05-01T25:00"}), "not_a_time"),
        ("date_parse", json!({"time": "@1e9"}), "not_a_time"),
        ("date_parse", json!({"time": "@999999999999999"}), "not_a_time"),
        ("date_parse", json!({"time": "x".repeat(200)}), "not_a_time"),
        ("date_parse", json!({"time": "10000-01-01"}), "not_a_time"),
        ("date_parse", json!({"time": "now", "zone": "Europe/Pariss"}), "unknown_zone"),
        ("date_parse", json!({"time": "now", "zone": "../../etc/passwd"}), "unknown_zone"),
        ("date_parse", json!({"time": "now", "zone": "/etc/localtime"}), "unknown_zone"),
        ("date_parse", json!({"time": "now", "zone": "+99:00"}), "unknown_zone"),
        ("date_parse", json!({"time": "2024-05-01T12:00[Mars/Base]"}), "unknown_zone"),
        ("date_parse", json!({"time": "2024-05-01T12:00+09:00[Europe/Paris]"}), "contradictory_time"),
        ("date_parse", json!({"time": "1.5.2024", "format": "%Y-%m-%d"}), "format_mismatch"),
        ("date_parse", json!({"time": "1", "format": "%!"}), "format_mismatch"),
        ("date_parse", json!({"time": "12", "format": "%H"}), "format_mismatch"),
        ("date_format", json!({"time": "now", "format": "%!"}), "invalid_format"),
        ("date_format", json!({"time": "now", "format": "%100000d"}), "invalid_format"),
        ("date_format", json!({"time": "now", "format": "%c".repeat(100)}), "invalid_format"),
        ("date_format", json!({"time": "now", "format": "%"}), "invalid_format"),
        ("date_add", json!({"time": "9999-12-30", "days": 3}), "out_of_range"),
        ("date_add", json!({"time": "now", "years": -19_998}), "out_of_range"),
        ("date_add", json!({"time": "now", "seconds": 631_107_417_600_i64}), "out_of_range"),
    ] {
        let failed = call(&kit, tool, arguments.clone()).await;
        let failed = failed.err().unwrap_or_else(|| panic!("{arguments} has a result"));
        assert_eq!(
            (failed.kind, failed.reason.as_str()),
            (FailureKind::ToolFailed, reason),
            "{arguments}: {}",
            failed.message
        );
        assert!(failed.message.len() < 500, "{}", failed.message);
    }
    let failed = call(&kit, "date_now", json!({"zone": "Europe/Pariss"})).await.unwrap_err();
    assert!(failed.message.contains("did you mean Europe/Paris"), "{}", failed.message);
    for arguments in [json!({"time": "now", "years": 20_000}), json!({"time": "y".repeat(201)}), json!({"time": ""})] {
        assert_eq!(call(&kit, "date_add", arguments).await.unwrap_err().kind, FailureKind::InputValidationError);
    }
}
