//! Rule conditions, compared with the files' tools.

use haft_executor::Tool;
use haft_registry::ConditionSeverity;
use haft_workspace::{Loaded, Trust};
use serde_json::{Value, json};

use super::Folder;

fn findings(folder: &Folder, loaded: &Loaded) -> Vec<String> {
    let text = |finding: &haft_workspace::RuleFinding| {
        let severity = match finding.severity {
            ConditionSeverity::Fault => "fault",
            _ => "warning",
        };
        let shown = finding.fault.path.strip_prefix(folder.path("")).unwrap_or(&finding.fault.path);
        format!("{severity} {}", finding.fault.in_file(&shown.to_string_lossy()))
    };
    loaded.rule_findings().iter().map(text).collect()
}

#[tokio::test]
async fn conditions_that_no_tool_can_meet_are_found_with_their_places() {
    let folder = Folder::with(
        "
workspace.orgs = ['acme']
[permissions]
use = ['used']
allow = ['**', { tools = 'hash', when = 'args.texxt == \"x\"' }]
deny = [{ tools = 'shop/order', when = 'has(args.x)' }, { tools = 'shop/*', readonly = true }]
[permissions.sets.used]
deny = [{ tools = 'calculate', when = 'has(args.expresion)' }]
[permissions.sets.unused]
deny = [{ tools = 'calculate', when = 'has(args.expresion)' }]
[[approval]]
ask = 'hash'
when = 'has(args.text)'
[[approval]]
ask = 'shop/run'
when = 'has(args.x)'
readonly = true
[toolbox.shop.tool.order]
kind = 'constant'
text = 'ordered'
[toolbox.shop.tool.run]
kind = 'program'
run = ['ls']
",
    );
    folder.write(
        "acme/haft.toml",
        "[workspace]\norg = 'acme'\n[[approval]]\nask = 'acme/crm/find'\nwhen = 'has(args.q)'\n\
         [toolbox.crm.tool.find]\nkind = 'constant'\ntext = 'x'\n",
    );
    let loaded = folder.load_with(Trust::Always).await.unwrap();
    let found = findings(&folder, &loaded);
    let starts: Vec<&str> = found.iter().map(|text| text.split(": ").next().unwrap()).collect();
    assert_eq!(
        starts,
        [
            "warning haft.toml:5:41",
            "fault haft.toml:6:40",
            "warning haft.toml:6:57",
            "fault haft.toml:8:39",
            "warning haft.toml:14:1",
            "fault acme/haft.toml:5:8",
        ],
        "{found:#?}"
    );
    assert!(found[3].ends_with("`calculate` accepts no `expresion`; did you mean `expression`?"), "{}", found[3]);

    // Nothing is certain about a tool that is left out.
    let untrusted = findings(&folder, &folder.load_with(Trust::Never).await.unwrap());
    assert!(!untrusted.iter().any(|text| text.contains("haft.toml:14:1")), "{untrusted:#?}");
    assert!(untrusted.iter().any(|text| text.starts_with("fault haft.toml:6:40")), "{untrusted:#?}");
}

#[tokio::test]
async fn tools_of_the_application_count() {
    let folder = Folder::with("[[approval]]\nask = ['mine/pay', 'hash']\nwhen = 'has(args.cents)'\n");
    let mut loaded = folder.load().await;
    assert_eq!(findings(&folder, &loaded).len(), 1);
    let schema = json!({"type": "object", "properties": {"cents": {"type": "integer"}}, "additionalProperties": false});
    let pay = Tool::dynamic("pay").params_json(schema).handler(|_: Value, _cx| async { 1 }).unwrap();
    loaded.extend(|workspace| workspace.toolbox("mine").tool(pay).done()).unwrap();
    assert_eq!(findings(&folder, &loaded), [] as [&str; 0]);
}
