//! Requests with everything that a request can hold: the SDKs accept them, and nothing is missing without a report.

mod case;
mod choice;
mod conversation;
mod output;
mod part;
mod setting;
mod tool;

use haft_parts::{RequestFault, WireName};
use haft_wire::{Delivery, FindingKind, WireRequest};

use self::case::RequestCase;
use super::{JudgedWire, SERVERS, compatible, limited, server, wire};

/// The outcome of a case on a wire, in one line for each report.
fn outcome(wire: &JudgedWire, case: &RequestCase, delivery: Delivery, complaints: &mut Vec<String>) -> Vec<String> {
    let mut request = case.request.clone();
    if request.model.is_empty() {
        wire.model.clone_into(&mut request.model);
    }
    let sent = match wire.wire.request(&request, delivery) {
        Ok(sent) => sent,
        Err(error) => return vec![format!("error: {error}")],
    };
    let mut complain = |what: String| complaints.push(format!("{}, {}: {what}", case.name, wire.label()));
    for fault in wire.faults(&sent).iter().filter(|fault| !is_of_the_judge(wire, fault)) {
        complain(format!("{} {}\n    {}", fault.at, fault.message, sent.body));
    }
    let missing: Vec<_> = case.markers.iter().filter(|marker| !contains(&sent, marker)).collect();
    let mut lines: Vec<_> = sent.dropped.iter().map(|dropped| format!("dropped: {dropped}")).collect();
    let findings = sent.context.tools.findings().iter().filter(|finding| finding.kind == FindingKind::LeftOut);
    lines.extend(findings.map(|finding| format!("left out: {finding}")));
    if !missing.is_empty() && lines.is_empty() {
        complain(format!("{missing:?} is missing without a report\n    {}", sent.body));
    }
    lines.extend(missing.iter().map(|marker| format!("not sent: {marker}")));
    lines
}

/// Reports whether a marker is in the body as it is, or as JSON text in a JSON text.
fn contains(sent: &WireRequest, marker: &str) -> bool {
    sent.body.contains(marker) || sent.body.replace("\\\"", "\"").contains(marker)
}

/// Reports whether a fault is the judge's own: an SDK may have less than the API.
fn is_of_the_judge(wire: &JudgedWire, fault: &RequestFault) -> bool {
    match wire.name {
        // The newest models have no sampling, and neither has the SDK; earlier models have it.
        // What the options state is sent as it is.
        WireName::Anthropic => match fault.at.as_str() {
            "/temperature" | "/top_p" => fault.message.contains("Extra inputs"),
            at => at == "/thinking/type",
        },
        WireName::Gemini => fault.message.contains("not in Gemini Developer API mode"),
        _ => false,
    }
}

/// Sends every case, and returns the reports.
fn check(cases: &[RequestCase], wire: &JudgedWire, complaints: &mut Vec<String>) -> String {
    let mut report = String::new();
    for (at, case) in cases.iter().enumerate() {
        // Both deliveries are checked with every group.
        let delivery = if at % 2 == 0 { Delivery::Streamed } else { Delivery::Whole };
        report.push_str(&case.name);
        report.push('\n');
        for line in outcome(wire, case, delivery, complaints) {
            report.extend(["    ", &line, "\n"]);
        }
    }
    report
}

/// Checks all requests of the table, and compares the reports with the recorded ones.
fn check_all(wire: &JudgedWire) {
    let groups = [
        ("parts", part::cases()),
        ("conversations", conversation::cases()),
        ("settings", setting::cases()),
        ("outputs", output::cases()),
        ("tools", tool::cases()),
        ("choices", choice::cases()),
        ("catalogue", tool::catalogue_cases()),
    ];
    let mut complaints = Vec::new();
    let reports: Vec<_> = groups.iter().map(|(group, cases)| (group, check(cases, wire, &mut complaints))).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    for (group, report) in reports {
        insta::assert_snapshot!(format!("{group}_{}", wire.label()), report);
    }
}

/// Sends the cases that the rules of single servers and models are about.
fn complaints(wire: &JudgedWire) -> Vec<String> {
    let mut complaints = Vec::new();
    for cases in [conversation::cases(), setting::cases(), output::cases(), choice::cases()] {
        check(&cases, wire, &mut complaints);
    }
    complaints.iter().map(|complaint| format!("{}: {complaint}", wire.model)).collect()
}

#[test]
fn servers_of_chat_completions() {
    let complaints: Vec<_> = SERVERS.iter().flat_map(|name| complaints(&server(name))).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn models_that_reject_what_others_accept() {
    let complaints: Vec<_> = limited().flat_map(|wire| complaints(&wire)).collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn openai_responses() {
    check_all(&wire(WireName::OpenAiResponses));
}

#[test]
fn openai_chat() {
    check_all(&wire(WireName::OpenAiChat));
}

#[test]
fn compatible_chat() {
    check_all(&compatible());
}

#[test]
fn anthropic() {
    check_all(&wire(WireName::Anthropic));
}

#[test]
fn gemini() {
    check_all(&wire(WireName::Gemini));
}
