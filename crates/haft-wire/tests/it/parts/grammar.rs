//! Real tools' strict renderings as grammars: whatever a model that is held to them writes is read.

use std::collections::HashSet;

use haft_parts::corpus::{CorpusSet, bfcl, mcp_tools};
use haft_schema::Schema;

use crate::dialect::grammar::{GrammarJudge, enforced};
use crate::seeded::runner;

/// Draws an instance from every n-th schema in one of the enforced dialects. Equal schemas are judged once.
fn judge(sets: &[CorpusSet], at: usize, every: usize) {
    let (judge, (mut runner, seed)) = (GrammarJudge::new(), runner(1));
    let dialect = &enforced()[at];
    let mut seen = HashSet::new();
    for tool in sets.iter().flat_map(|set| &set.tools) {
        if !seen.insert(tool.schema.to_string()) || seen.len() % every != 0 {
            continue;
        }
        let schema = Schema::json(tool.schema.clone()).unwrap();
        let judged = judge.judge(&**dialect, &schema, 1, runner.rng());
        assert!(judged.is_ok(), "{}: {}: {judged:?}\n{seed}", dialect.name(), tool.name);
    }
    assert!(seen.len() > 30, "{} schemas", seen.len());
}

#[test]
fn mcp_tools_are_read() {
    let sets = mcp_tools();
    (0..enforced().len()).for_each(|at| judge(&sets, at, 1));
}

#[test]
fn functions_in_openai_strict_are_read() {
    judge(&bfcl(), 0, 1);
}

#[test]
fn functions_in_anthropic_strict_are_read() {
    judge(&bfcl(), 1, 1);
}

#[test]
fn functions_in_gemini_parameters_are_read() {
    judge(&bfcl(), 2, 5);
}

#[test]
fn functions_in_gemini_json_schema_are_read() {
    judge(&bfcl(), 3, 5);
}
