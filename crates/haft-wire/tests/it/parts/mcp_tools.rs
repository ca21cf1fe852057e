//! The tools of real MCP servers, on every profile and every dialect.

use haft_parts::corpus::mcp_tools;
use haft_schema::Schema;

use super::survey::survey;
use super::validity::Validity;
use crate::dialect::checker::{breaches, dialects};

#[test]
fn every_tool_renders_on_every_profile() {
    let (sets, validity) = (mcp_tools(), Validity::new());
    let survey = survey("MCP servers", &sets, &mut |profile, surveyed| validity.assert(profile, surveyed));
    insta::assert_snapshot!("mcp_tools", survey);
    for row in &survey.rows {
        assert!(row.tools > 30, "{row:?}");
        assert_eq!((row.rendered, row.left_out), (row.tools, 0), "{row:?}");
    }
}

#[test]
fn every_tool_renders_on_every_dialect() {
    let sets = mcp_tools();
    for (dialect, rules) in dialects() {
        for tool in sets.iter().flat_map(|set| &set.tools) {
            let name = &tool.name;
            let schema = Schema::json(tool.schema.clone()).unwrap();
            let rendered =
                dialect.render(&schema).unwrap_or_else(|fault| panic!("{}: {name}: {fault}", dialect.name()));
            let found = breaches(&rules, &rendered.json);
            assert!(found.is_empty(), "{}: {name}: {found:#?}\n{}", dialect.name(), rendered.json);
            let again = dialect.render(&schema).unwrap();
            assert_eq!(rendered.json.to_string(), again.json.to_string(), "{name}");
        }
    }
}
