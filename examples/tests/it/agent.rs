//! The example `agent`, as the program that cargo has built of it.

use std::process::{Command, Output};

/// Returns a run of the program without the settings of this machine.
fn agent() -> Command {
    // Cargo builds the examples of a package with its tests, in the folder beside theirs.
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples/agent");
    assert!(
        program.with_extension(std::env::consts::EXE_EXTENSION).exists(),
        "`cargo test -p haft-examples` builds it"
    );
    let mut command = Command::new(program);
    command.env("NO_PROXY", "127.0.0.1");
    for variable in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"] {
        command.env_remove(variable);
    }
    command
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn without_a_key_it_names_the_variable() {
    let output = agent().output().unwrap();
    let (shown, error) = texts(&output);
    assert!(!output.status.success() && shown.is_empty());
    assert!(error.contains("OPENAI_API_KEY"), "{error}");
}

#[test]
fn it_has_at_most_twenty_five_lines() {
    assert!(include_str!("../../agent.rs").lines().count() <= 25);
}

mod parts {
    use haft_parts::{Aimock, Judge, WireName};
    use serde_json::{Value, json};

    use super::{agent, texts};

    const KEY: &str = "sk-of-the-example";

    fn run_against(mock: &Aimock) -> (bool, String, String) {
        let url = format!("{}/v1", mock.url());
        let output = agent().env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", url).output().unwrap();
        let (shown, error) = texts(&output);
        (output.status.success(), shown, error)
    }

    /// Two calls at once, and the answer to their results.
    fn fixtures() -> Value {
        let call = |id: &str, city: &str| json!({"id": id, "name": "temperature", "arguments": format!("{{\"city\":\"{city}\"}}")});
        json!([
            {
                "match": {"userMessage": "Oslo or in Lisbon", "hasToolResult": false},
                "response": {"toolCalls": [call("call_1", "Oslo"), call("call_2", "Lisbon")]},
            },
            {
                "match": {"userMessage": "Oslo or in Lisbon", "hasToolResult": true},
                "response": {"content": "It is warmer in Lisbon, by 8 degrees."},
            },
        ])
    }

    #[test]
    fn it_answers_with_the_results_of_its_tool() {
        let mock = Aimock::start_with(&fixtures(), &json!({"chunkSize": 5}));
        let (succeeded, shown, error) = run_against(&mock);
        assert_eq!((succeeded, shown.as_str(), error.as_str()), (true, "It is warmer in Lisbon, by 8 degrees.\n", ""));

        let requests = mock.requests();
        assert_eq!((requests.len(), mock.journal().len()), (2, 2));
        for request in &requests {
            assert_eq!(request.path, "/v1/responses");
            assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
            assert_eq!(request.json()["tools"][0]["name"], "temperature");
            Judge::shared().assert_valid(WireName::OpenAiResponses, &request.json());
        }
        let second = requests[1].json();
        let results: Vec<_> =
            second["input"].as_array().unwrap().iter().filter(|item| item["type"] == "function_call_output").collect();
        let results: Vec<_> = results.iter().map(|item| (&item["call_id"], &item["output"])).collect();
        assert_eq!(results, [(&json!("call_1"), &json!("16")), (&json!("call_2"), &json!("24"))]);
    }

    #[test]
    fn an_error_of_the_provider_ends_it_with_the_cause() {
        let failure = json!([{
            "match": {"userMessage": "Oslo"},
            "response": {"error": {"message": "Incorrect API key provided", "type": "invalid_request_error"}, "status": 401},
        }]);
        let mock = Aimock::start(&failure);
        let (succeeded, shown, error) = run_against(&mock);
        assert!(!succeeded && shown.is_empty());
        assert!(error.contains("Incorrect API key provided") && !error.contains(KEY), "{error}");
        assert_eq!(mock.requests().len(), 1, "nothing was retried");
    }
}
