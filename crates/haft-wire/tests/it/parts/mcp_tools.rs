//! The tools of real MCP servers, on every profile and every dialect.

use haft_executor::Tool;
use haft_parts::corpus::{mcp_tool_forms, mcp_tools};
use haft_schema::Schema;
use haft_wire::Profile;
use serde_json::Value;

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

/// Asserts that every member of `form` is in `again`. A hint whose meaning is the same when it is absent may be.
fn assert_kept(form: &Value, again: &Value, at: &str) {
    for (name, member) in form.as_object().unwrap() {
        match &again[name] {
            Value::Null if name == "destructiveHint" && form["readOnlyHint"] == true => {}
            kept if name == "annotations" => assert_kept(member, kept, &format!("{at}/annotations")),
            kept => assert_eq!(kept, member, "{at}/{name}"),
        }
    }
}

#[test]
fn every_tool_is_made_from_its_mcp_form_and_listed_with_the_same_members() {
    let mut tools = 0;
    for (server, forms) in mcp_tool_forms() {
        for form in forms {
            let tool = Tool::from_mcp(&form).unwrap_or_else(|error| panic!("{server}: {error}"));
            let rendered = Profile::mcp().render(&[tool.descriptor()]);
            let listed: Value = serde_json::from_str(rendered.list()).unwrap();
            assert_kept(&form, &listed[0], &format!("{server}/{}", tool.name()));
            tools += 1;
        }
    }
    assert!(tools > 30, "{tools}");
}
