//! Settings of permissions and approval rules, as a file contains them.

use haft_registry::{AskRules, AskSettings, PermissionSettings, RuleSetSettings, RuleSettings};
use serde_json::{Value, json};

fn read(settings: Value) -> Result<PermissionSettings, serde_json::Error> {
    serde_json::from_value(settings)
}

/// The faults of settings, as `pointer: message`.
fn faults(settings: Value) -> Vec<String> {
    let error = read(settings).unwrap().build().unwrap_err();
    error.faults.iter().map(ToString::to_string).collect()
}

#[test]
fn the_settings_of_a_file_are_those_of_code() {
    let settings = json!({
        "use": ["reader"],
        "hide-denied": true,
        "allow": [
            "math/*",
            { "tools": ["github/*", "gitlab/*"], "readonly": true, "open-world": false },
            { "tools": "bank/transfer", "when": "args.cents <= 10000", "name": "small-transfers" },
        ],
        "deny": ["github/delete_*"],
        "sets": { "reader": { "use": ["other"], "allow": ["files/read"] }, "other": { "deny": ["x/*"] } },
    });
    let from_file = read(settings).unwrap();
    let from_code = PermissionSettings::new()
        .uses("reader")
        .hide_denied()
        .allow("math/*")
        .allow(RuleSettings::tools(["github/*", "gitlab/*"]).readonly(true).open_world(false))
        .allow(RuleSettings::tools("bank/transfer").when("args.cents <= 10000").named("small-transfers"))
        .deny("github/delete_*")
        .set("reader", RuleSetSettings::new().uses("other").allow("files/read"))
        .set("other", RuleSetSettings::new().deny("x/*"));
    assert_eq!(from_file, from_code);
    let written = serde_json::to_value(&from_file).unwrap();
    assert_eq!(read(written).unwrap(), from_code);
    let permissions = from_code.build().unwrap();
    let names: Vec<&str> = permissions.rules().iter().map(haft_registry::PermissionRule::name).collect();
    assert_eq!(
        names,
        [
            "deny github/delete_*",
            "allow math/*",
            "allow github/*, gitlab/* if readonly and not open-world",
            "small-transfers",
            "other: deny x/*",
            "reader: allow files/read",
        ]
    );
}

#[test]
fn unknown_keys_and_wrong_forms_are_rejected() {
    let table = [
        (json!({"alow": []}), "unknown field `alow`"),
        (json!({"allow": "math/*"}), "expected a sequence"),
        (json!({"allow": [1]}), "expected a pattern such as"),
        (json!({"allow": [{"tools": 1}]}), "expected a pattern such as"),
        (json!({"allow": [{"tool": "x"}]}), "unknown field `tool`"),
        (json!({"allow": [{"readonly": true}]}), "missing field `tools`"),
        (json!({"allow": [{"tools": "x", "read-only": true}]}), "unknown field `read-only`"),
        (json!({"sets": {"a": {"hide-denied": true}}}), "unknown field `hide-denied`"),
        (json!({"hide-denied": "yes"}), "invalid type"),
    ];
    for (settings, expected) in table {
        let error = read(settings.clone()).unwrap_err().to_string();
        assert!(error.contains(expected), "{settings}: {error}");
    }
}

#[test]
fn all_faults_are_reported_with_their_pointers() {
    let settings = json!({
        "use": ["raeder"],
        "allow": ["math//x", { "tools": ["ok/*", "../x"], "name": " " }, { "tools": [] }],
        "deny": [{ "tools": "b\u{430}nk/*" }],
        "sets": { "reader": { "use": ["nobody"], "allow": ["a/b/c/d"] }, "a/b": { "use": ["a/b"] } },
    });
    let found = faults(settings);
    let pointers: Vec<&str> = found.iter().map(|fault| fault.split(": ").next().unwrap()).collect();
    let expected = [
        "/deny/0/tools",
        "/allow/0/tools",
        "/allow/1/tools/1",
        "/allow/1/name",
        "/allow/2/tools",
        "/sets/reader/use/0",
        "/sets/reader/allow/0/tools",
        "/use/0",
        "/sets/a~1b/use",
    ];
    assert_eq!(pointers, expected, "{found:#?}");
    assert!(found.iter().any(|fault| fault.contains("there is no set `raeder`; is it `reader`?")), "{found:#?}");
}

#[test]
fn sets_that_use_each_other_are_rejected() {
    let sets = json!({"sets": {"a": {"use": ["b"]}, "b": {"use": ["c"]}, "c": {"use": ["a"]}, "d": {"use": ["a"]}}});
    let found = faults(sets);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("/sets/a/use: the set `a` uses itself"));
    let shared =
        json!({"use": ["a", "b"], "sets": {"a": {"use": ["c"]}, "b": {"use": ["c"]}, "c": {"allow": ["x/y"]}}});
    assert_eq!(read(shared).unwrap().build().unwrap().rules().len(), 1);
}

#[test]
fn settings_of_hostile_size_are_rejected() {
    let sets: serde_json::Map<String, Value> =
        (0..300).map(|index| (format!("s{index}"), json!({"use": [format!("s{}", index + 1)]}))).collect();
    assert!(faults(json!({"sets": sets}))[0].contains("more than 256 sets"));
    assert!(faults(json!({"allow": vec!["x/*"; 10_001]}))[0].contains("more than 10000 rules"));
    assert!(faults(json!({"allow": [{"tools": vec!["x/*"; 1_001]}]}))[0].contains("1 to 1000 patterns"));
    assert!(faults(json!({"allow": [{"tools": "x/*", "name": "n".repeat(201)}]}))[0].contains("/allow/0/name"));
}

#[test]
fn faults_of_expressions_have_their_place() {
    let found = faults(json!({"allow": [{"tools": "x/*", "when": "args.a <\n arg.b"}]}));
    assert_eq!(
        found,
        [
            "/allow/0/when: the expression is invalid at line 2, column 2: there is no variable `arg`; is it `args`?; the \
          variables are `args`, `tool`, `caller` and `groups`"
        ]
    );
    let asking: Vec<AskSettings> =
        serde_json::from_value(json!([{"ask": "bank/*"}, {"ask": ["x//y", "z"], "when": "args.("}])).unwrap();
    let error = AskRules::new(&asking).unwrap_err();
    let pointers: Vec<&str> = error.faults.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(pointers, ["/1/ask/0", "/1/when"]);
    assert!(serde_json::from_value::<AskSettings>(json!({"ask": "x", "if": "true"})).is_err());
}

#[test]
fn the_schema_accepts_what_is_read() {
    let schema = schemars::schema_for!(PermissionSettings).to_value();
    let text = schema.to_string();
    for key in ["use", "hide-denied", "allow", "deny", "sets", "open-world", "tools", "ToolPattern"] {
        assert!(text.contains(&format!("\"{key}\"")), "{key} in {text}");
    }
    let ask = schemars::schema_for!(Vec<AskSettings>).to_value().to_string();
    assert!(ask.contains("\"ask\""));
}
