//! The Berkeley Function Calling Leaderboard's functions on every profile, and the calls that answer its questions.

use std::collections::HashSet;

use haft_parts::corpus::bfcl;

use super::survey::survey;
use super::validity::Validity;

#[test]
fn every_function_renders_and_every_call_survives() {
    let (sets, validity) = (bfcl(), Validity::new());
    let functions: HashSet<String> = sets.iter().flat_map(|set| &set.tools).map(|tool| format!("{tool:?}")).collect();
    assert!(functions.len() > 3_000, "{} functions", functions.len());
    let survey = survey("BFCL", &sets, &mut |profile, surveyed| validity.assert(profile, surveyed));
    insta::assert_snapshot!("bfcl", survey);
    for row in &survey.rows {
        assert_eq!(row.rendered + row.left_out, row.tools, "{row:?}");
        assert_eq!(row.round_tripped + row.explained, row.calls, "{row:?}");
        assert!(row.calls > 3_000, "{row:?}");
    }
}
