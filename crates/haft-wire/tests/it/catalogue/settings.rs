//! Settings by type.

use haft_core::{Secret, ToolDescriptor};
use haft_executor::{DefinitionError, Tool, ToolKind};
use haft_wire::catalogue::anthropic::{self, AnthropicWebSearch};
use haft_wire::catalogue::openai::{self, DomainSecret, OpenAiMcp, OpenAiShell, ShellEnvironment};
use haft_wire::catalogue::{CatalogueTool, SecretSetting};
use serde_json::json;

#[test]
fn settings_are_read_back_by_type() {
    let tool = anthropic::web_search().max_uses(3).allowed_domains(["a.org", "b.org"]).define().unwrap();
    let settings: AnthropicWebSearch = tool.provider_definition().unwrap().decode_args().unwrap();
    assert_eq!(settings.max_uses, Some(3));
    assert_eq!(settings.allowed_domains.unwrap(), ["a.org", "b.org"]);
    assert_eq!(
        tool.provider_definition().unwrap().args(),
        &json!({"max_uses": 3, "allowed_domains": ["a.org", "b.org"]})
    );
}

#[test]
fn the_name_can_be_chosen() {
    let tool = openai::web_search().name("search").define().unwrap();
    assert_eq!((tool.name(), tool.provider_definition().unwrap().provider_name()), ("search", "web_search"));
    assert_eq!(tool.descriptor().id.as_str(), "openai.web_search");
}

#[test]
fn an_invalid_name_is_a_fault_of_the_definition() {
    assert!(openai::web_search().name("").define().is_err());
}

#[test]
fn tools_of_two_vendors_fit_in_one_toolkit() {
    let mut names: Vec<_> = super::tools().iter().map(|tool| tool.name().to_owned()).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn a_container_of_the_provider_takes_no_handler() {
    let hosted = || openai::shell().environment(ShellEnvironment::container());
    assert!(!hosted().define().unwrap().descriptor().requires_handler());
    let shell: CatalogueTool<OpenAiShell> = hosted();
    let refused: Result<Tool, DefinitionError> = shell.handler(|call, _cx| async move { call.action.result([]) });
    assert!(refused.is_err());
}

#[test]
fn the_kind_states_the_executor() {
    for tool in super::tools() {
        let ToolKind::Provider(definition) = tool.kind() else { panic!("{} is provider-defined", tool.name()) };
        assert_eq!(definition.requires_handler(), tool.descriptor().requires_handler());
    }
}

#[test]
fn tools_without_declared_failures_have_no_failure_schema() {
    let tool = openai::web_search().define().unwrap();
    assert!(tool.descriptor().failure_schema.is_none());
    assert!(anthropic::web_search().define().unwrap().descriptor().failure_schema.is_some());
}

#[test]
fn secrets_are_not_debugged() {
    let tool = openai::mcp("docs").authorization("hunter2").headers([("X-Key", SecretSetting::new("hunter2"))]);
    let secret =
        DomainSecret { domain: "a.org".to_owned(), name: "KEY".to_owned(), value: SecretSetting::new("hunter2") };
    for text in [format!("{tool:?}"), format!("{secret:?}")] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert_eq!(secret.value.reveal(), "hunter2");
    assert_eq!(tool.settings().authorization.as_ref().unwrap().reveal(), "hunter2");
}

#[test]
fn secrets_are_sealed_in_definitions_and_read_back_by_type() {
    let tool = openai::mcp("docs").authorization("hunter2").define().unwrap();
    let args = tool.provider_definition().unwrap().args();
    assert!(args["authorization"].as_str().unwrap().starts_with(Secret::SEALED), "{args}");
    let settings: OpenAiMcp = tool.provider_definition().unwrap().decode_args().unwrap();
    assert_eq!(settings.authorization.unwrap().reveal(), "hunter2");

    // A file of settings has the text.
    let plain: OpenAiMcp = serde_json::from_value(json!({"server_label": "docs", "authorization": "hunter2"})).unwrap();
    assert_eq!(plain.authorization.unwrap().reveal(), "hunter2");
    let elsewhere = json!({"server_label": "docs", "authorization": format!("{}00", Secret::SEALED)});
    let error = serde_json::from_value::<OpenAiMcp>(elsewhere).unwrap_err().to_string();
    assert!(error.contains("sealed by another process") && error.contains("set it again"), "{error}");
}

#[test]
fn equal_definitions_have_the_same_digest_whichever_process_sealed_their_secrets() {
    let defined = |token: &str| openai::mcp("docs").authorization(token).define().unwrap().descriptor();
    let stored = serde_json::to_string(&*defined("hunter2")).unwrap();
    assert_ne!(stored, serde_json::to_string(&*defined("hunter3")).unwrap());
    let another = stored.replace(Secret::SEALED, &format!("{}ab", Secret::SEALED));
    let elsewhere: ToolDescriptor = serde_json::from_str(&another).unwrap();
    assert_eq!(elsewhere.digest(), defined("hunter2").digest());
}
