//! The expected failures of the suites, each with a reason.

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use serde_json::Value;

use super::suite::Report;

/// The file of expected failures.
#[derive(Debug)]
pub(super) struct Expectations(Value);

impl Expectations {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let file: Value = serde_json::from_str(text).context("the file of expected failures is not JSON")?;
        for failure in file["failures"].as_array().context("the file has no list `failures`")? {
            let has_text = |name: &str| failure[name].as_str().is_some_and(|text| !text.is_empty());
            let is_whole = has_text("scenario") && has_text("check") && has_text("reason");
            ensure!(is_whole && failure["suites"].is_array(), "an expected failure lacks a member: {failure}");
        }
        Ok(Self(file))
    }

    /// Returns what is not as expected, one sentence each.
    pub(super) fn compare(&self, suite: &str, report: &Report) -> Vec<String> {
        let mut surprises = Vec::new();
        let scenarios = self.0["scenarios"][suite].as_u64();
        if scenarios != u64::try_from(report.scenarios).ok() {
            let expected = scenarios.map_or_else(|| "none".to_owned(), |number| number.to_string());
            surprises.push(format!("{suite}: {} scenarios ran, and {expected} are expected", report.scenarios));
        }
        let expected = self.expected(suite);
        for ((scenario, check), message) in &report.failed {
            if !expected.contains(&(scenario.clone(), check.clone())) {
                surprises.push(format!("{suite}: {scenario}: {check} failed: {message}"));
            }
        }
        for (scenario, check) in &expected {
            if !report.failed.contains_key(&(scenario.clone(), check.clone())) {
                surprises.push(format!("{suite}: {scenario}: {check} passed; remove it from the expected failures"));
            }
        }
        surprises
    }

    fn expected(&self, suite: &str) -> BTreeSet<(String, String)> {
        let text = |failure: &Value, name: &str| failure[name].as_str().unwrap_or_default().to_owned();
        let failures = self.0["failures"].as_array().into_iter().flatten();
        let of_suite = failures.filter(|failure| {
            failure["suites"].as_array().is_some_and(|suites| suites.iter().any(|name| name == suite))
        });
        of_suite.map(|failure| (text(failure, "scenario"), text(failure, "check"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"scenarios": {"s": 1, "t": 1},
        "failures": [{"suites": ["s"], "scenario": "one", "check": "a", "reason": "because"}]}"#;

    fn report(failed: &[&str]) -> Report {
        let failed = failed.iter().map(|check| (("one".to_owned(), (*check).to_owned()), "no".to_owned())).collect();
        Report { scenarios: 1, passed: 1, failed }
    }

    #[test]
    fn a_failure_that_is_not_expected_and_an_expected_one_that_passes_are_surprises() {
        let expectations = Expectations::parse(FILE).unwrap();
        assert!(expectations.compare("s", &report(&["a"])).is_empty());
        assert_eq!(expectations.compare("s", &report(&["a", "b"])), ["s: one: b failed: no"]);
        assert_eq!(expectations.compare("s", &report(&[])), ["s: one: a passed; remove it from the expected failures"]);
        // A failure is expected in the suites that it names alone.
        assert_eq!(expectations.compare("t", &report(&["a"])), ["t: one: a failed: no"]);
    }

    #[test]
    fn another_number_of_scenarios_is_a_surprise() {
        let expectations = Expectations::parse(FILE).unwrap();
        let none = Report::default();
        assert_eq!(expectations.compare("t", &none), ["t: 0 scenarios ran, and 1 are expected"]);
    }

    #[test]
    fn an_expected_failure_needs_a_reason() {
        assert!(Expectations::parse(&FILE.replace("because", "")).is_err());
        assert!(Expectations::parse("{}").is_err());
    }
}
