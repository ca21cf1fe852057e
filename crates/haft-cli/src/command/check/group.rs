//! Findings that are one fact about many tools, as one line.

use std::collections::HashMap;

use super::finding::{CheckFinding, CheckSeverity};

/// The least findings that become one line. Fewer are read faster one by one.
const LEAST: usize = 3;

/// Returns the findings for people: all losses of a tool are one, and so is what holds for many tools alike.
pub(super) fn grouped(findings: &[CheckFinding]) -> Vec<CheckFinding> {
    let lines = by_tool(findings);
    let mut counts: HashMap<CheckFinding, usize> = HashMap::new();
    for line in &lines {
        *counts.entry(line.without_subject()).or_default() += 1;
    }
    let mut grouped = Vec::new();
    for line in lines {
        let is_loss = line.severity == CheckSeverity::Loss;
        let listed = |tool: &str| if is_loss { format!("`haft show {tool}` lists them") } else { String::new() };
        let (line, advice) = match counts.get_mut(&line.without_subject()) {
            Some(count) if *count >= LEAST => (line.about(std::mem::take(count)), listed("NAME")),
            // The rest of a group.
            Some(0) => continue,
            _ => {
                let advice = listed(line.subject());
                (line, advice)
            }
        };
        grouped.push(if is_loss { line.advice(advice) } else { line });
    }
    grouped
}

/// Joins each tool's losses: a tool may have dozens.
fn by_tool(findings: &[CheckFinding]) -> Vec<CheckFinding> {
    let mut losses: HashMap<&str, Vec<&CheckFinding>> = HashMap::new();
    for loss in findings.iter().filter(|finding| finding.severity == CheckSeverity::Loss) {
        losses.entry(loss.subject()).or_default().push(loss);
    }
    let joined = |finding: &CheckFinding| match finding.severity {
        CheckSeverity::Loss => losses.remove(finding.subject()).map(|own| joined(finding.subject(), &own)),
        CheckSeverity::Warning | CheckSeverity::Fault | CheckSeverity::Unchecked => Some(finding.clone()),
    };
    findings.iter().filter_map(joined).collect()
}

fn joined(tool: &str, losses: &[&CheckFinding]) -> CheckFinding {
    let mut wires: Vec<&'static str> = Vec::new();
    for wire in losses.iter().flat_map(|loss| &loss.wires) {
        if !wires.contains(wire) {
            wires.push(wire);
        }
    }
    let message = match losses.len() {
        1 => "1 part of it is expressed in another way, or not at all".to_owned(),
        count => format!("{count} parts of it are expressed in another way, or not at all"),
    };
    CheckFinding::new(CheckSeverity::Loss, "wire", tool, message).wires(wires)
}

#[cfg(test)]
mod tests {
    use super::{CheckFinding, CheckSeverity, grouped};

    fn finding(severity: CheckSeverity, subject: &str, message: &str) -> CheckFinding {
        CheckFinding::new(severity, "wire", subject, message).wires(vec!["openai"])
    }

    #[test]
    fn one_fact_about_many_tools_is_one_line_in_the_place_of_the_first() {
        let fault = |tool: &str| finding(CheckSeverity::Fault, tool, "one too many");
        let mut findings = vec![finding(CheckSeverity::Warning, "w", "x"), fault("a")];
        findings.extend([finding(CheckSeverity::Fault, "z", "other"), fault("b")]);
        let lines = |findings: &[CheckFinding]| -> Vec<String> {
            grouped(findings).iter().map(|line| anstream::adapter::strip_str(&line.text()).to_string()).collect()
        };
        let few = lines(&findings);
        assert_eq!(few.len(), 4, "two are read one by one: {few:?}");
        findings.push(fault("c"));
        let texts =
            ["warning: w (openai): x", "fault: a and 2 more (openai): one too many", "fault: z (openai): other"];
        assert_eq!(lines(&findings), texts);
    }

    #[test]
    fn losses_of_a_tool_are_one_and_tools_with_as_many_are_grouped() {
        let tools = ["a", "b", "c", "d"];
        let loss = |(at, tool): (usize, &&str)| finding(CheckSeverity::Loss, tool, &format!("part {at}"));
        let mut findings: Vec<CheckFinding> = tools.iter().cycle().enumerate().take(8).map(loss).collect();
        findings.push(finding(CheckSeverity::Loss, "d", "part 9"));
        let texts: Vec<String> = grouped(&findings).iter().map(CheckFinding::text).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(texts[0].contains("a and 2 more (openai): 2 parts of it are"), "{texts:?}");
        assert!(texts[1].contains("d (openai): 3 parts of it are"), "{texts:?}");
    }

    #[test]
    fn ten_thousand_findings_are_grouped_at_once() {
        let fault = |at: usize| finding(CheckSeverity::Fault, &format!("t{at}"), "one too many");
        let findings: Vec<CheckFinding> = (0..10_000).map(fault).collect();
        let grouped = grouped(&findings);
        assert_eq!((grouped.len(), grouped[0].subject()), (1, "t0 and 9999 more"));
    }
}
