//! Tools that the provider runs: requests, results and the next request, over sockets.

use haft_core::{Author, Delta, ToolResult};
use haft_executor::{Tool, Toolkit};
use haft_model::{LoopEnd, LoopEvent, LoopState, TurnLoop};
use haft_wire::catalogue::anthropic::{
    self, AnthropicMcpServer, CodeExecutionCall, CodeExecutionResult, CodeFileCommand,
};
use haft_wire::catalogue::google::{self, ExecutableCode, ExecutedCode};
use haft_wire::catalogue::openai::{self, InterpreterCall, InterpreterContainer, InterpreterResult, McpCallResult};
use serde_json::json;

use super::*;

/// Two questions in one conversation: the answer to the first one has hosted calls, the second one is `Hello`.
struct Conversation {
    kit: Toolkit,
    /// The history after the first answer.
    history: Vec<Item>,
    results: Vec<ToolResult>,
    deltas: Vec<Delta>,
    first: Value,
    second: Value,
}

async fn conversation(provider: Provider, tools: Vec<Tool>, reply: String) -> Conversation {
    let server = Server::start().await;
    let kit: Toolkit = Toolkit::from_iter(tools);
    let agent = TurnLoop::new(provider.model(&server), kit.clone()).retries(0);
    let mut asking = request();
    if provider == Provider::Gemini {
        "gemini-3.8-flash".clone_into(&mut asking.model);
    }
    let (mut run, mut deltas) = (agent.start(asking), Vec::new());
    let ((), (first, connection)) = join!(
        async {
            while let Some(event) = run.next().await {
                if let LoopEvent::Delta(delta) = event {
                    deltas.push(delta);
                }
            }
        },
        answer(&server, &reply)
    );
    connection.end().await;
    let outcome = run.finish().await;
    assert_eq!(outcome.end, LoopEnd::Stopped, "hosted calls are nothing to run");
    let history = outcome.state.history().to_vec();
    let state: LoopState = outcome.state.follow_up(Item::user("And now?"));
    let reply = provider.stream();
    let (outcome, (second, _connection)) = join!(agent.start(state).finish(), answer(&server, &reply));
    assert_eq!((outcome.end, outcome.state.text().as_str()), (LoopEnd::Stopped, "Hello"));
    let results = kit.provider_results(&history);
    let (first, second) = (SentText(first).body(), SentText(second).body());
    Conversation { kit, history, results, deltas, first, second }
}

impl Conversation {
    /// Returns the inputs of the calls, read as a type.
    fn inputs<T: serde::de::DeserializeOwned>(&self) -> Vec<T> {
        let inputs = self.history.iter().filter_map(|item| match item {
            Item::ProviderCall(call) => {
                assert_eq!(item.author(), Author::Provider);
                call.input().ok()
            }
            Item::ToolCall(call) => panic!("the application would run {call:?}"),
            _ => None,
        });
        inputs.collect()
    }

    fn shown_calls(&self) -> usize {
        self.deltas.iter().filter(|delta| matches!(delta, Delta::ProviderCallStart { .. })).count()
    }
}

/// A message of Anthropic as a stream.
fn message(blocks: &[Value]) -> String {
    let start = json!({"type": "message_start", "message": {"id": "m", "type": "message", "role": "assistant",
        "model": "claude", "content": [], "stop_reason": null, "usage": {"input_tokens": 1, "output_tokens": 1}}});
    let mut events = vec![start];
    for (index, block) in blocks.iter().enumerate() {
        let mut start = block.clone();
        let input = start.get_mut("input").map(|input| std::mem::replace(input, json!({})));
        events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        if let Some(input) = input {
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    events.push(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}));
    events.push(json!({"type": "message_stop"}));
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    response(200, EVENTS, &sse(&events))
}

#[tokio::test]
async fn what_anthropic_ran_is_read_and_sent_back() {
    let call = |id: &str, name: &str, input: Value| json!({"type": "server_tool_use", "id": id, "name": name, "input": input, "caller": {"type": "direct"}});
    let result = |id: &str, kind: &str, content: Value| json!({"type": format!("{kind}_code_execution_tool_result"), "tool_use_id": id, "content": content});
    let ran =
        json!({"type": "bash_code_execution_result", "stdout": "hi\n", "stderr": "", "return_code": 0, "content": []});
    let created = json!({"type": "text_editor_code_execution_create_result", "is_file_update": false});
    let file = json!({"command": "create", "path": "a.py", "file_text": "print(1)"});
    let text = json!([{"type": "text", "text": "42", "citations": null}]);
    let blocks = [
        call("srvtoolu_1", "bash_code_execution", json!({"command": "echo hi"})),
        result("srvtoolu_1", "bash", ran),
        call("srvtoolu_2", "text_editor_code_execution", file),
        result("srvtoolu_2", "text_editor", created),
        json!({"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "add", "server_name": "maths", "input": {"a": 40, "b": 2}}),
        json!({"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": false, "content": text}),
        json!({"type": "text", "text": "Done."}),
    ];
    let maths = anthropic::mcp_toolset("maths")
        .server(AnthropicMcpServer::new("https://maths.example").authorization_token("t"));
    let tools = vec![anthropic::code_execution().define().unwrap(), maths.define().unwrap()];
    let seen = conversation(Provider::Anthropic, tools, message(&blocks)).await;

    assert_eq!(seen.first["mcp_servers"][0]["authorization_token"], "t");
    let commands: Vec<CodeExecutionCall> = seen.inputs();
    assert!(
        matches!(&commands[..], [CodeExecutionCall::Bash { command }, CodeExecutionCall::Editor(CodeFileCommand::Create { path, .. }), ..]
            if command == "echo hi" && path == "a.py"),
        "{commands:?}"
    );
    assert_eq!(seen.inputs::<Value>()[2], json!({"a": 40, "b": 2}));
    let [shell, editor, sum] = &seen.results[..] else { panic!("{:?}", seen.results) };
    assert!(
        matches!(shell.decode().unwrap(), CodeExecutionResult::BashCodeExecutionResult(ran) if ran.stdout == "hi\n")
    );
    let created = CodeExecutionResult::TextEditorCodeExecutionCreateResult { is_file_update: false };
    assert_eq!(editor.decode::<CodeExecutionResult>().unwrap(), created);
    assert_eq!((sum.tool.as_str(), &sum.decode::<Value>().unwrap()[0]["text"]), ("AnthropicMcpToolset", &json!("42")));
    assert_eq!((seen.shown_calls(), seen.kit.len()), (3, 2));
    // The service wants its own blocks back as they were.
    let sent = seen.second["messages"][1]["content"].as_array().unwrap();
    assert_eq!(sent.len(), blocks.len(), "{sent:#?}");
    for (sent, block) in sent.iter().zip(&blocks) {
        assert_eq!(sent["type"], block["type"]);
        for member in ["id", "tool_use_id", "name", "server_name", "input", "content"] {
            assert_eq!(sent.get(member), block.get(member), "{member}: {sent:#}");
        }
    }
}

#[tokio::test]
async fn what_openai_ran_is_read_and_sent_back() {
    let items = json!([
        {"type": "mcp_call", "id": "mcp_1", "name": "add", "server_label": "maths", "status": "completed",
            "arguments": "{\"a\":40,\"b\":2}", "output": "42", "error": null},
        {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "print(1)", "container_id": "cntr_1",
            "outputs": [{"type": "logs", "logs": "1"}]},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Done.", "annotations": []}]},
    ]);
    let added = |(at, item): (usize, &Value)| {
        let added = json!({"type": "response.output_item.added", "output_index": at, "item": item});
        [added, json!({"type": "response.output_item.done", "output_index": at, "item": item})]
    };
    let mut events: Vec<Value> = items.as_array().unwrap().iter().enumerate().flat_map(added).collect();
    events.push(json!({"type": "response.completed", "response": {"id": "r", "status": "completed", "output": items}}));
    let events: Vec<String> = events.iter().map(Value::to_string).collect();
    let maths = openai::mcp("maths").server_url("https://maths.example").authorization("t").define().unwrap();
    let code = openai::code_interpreter(InterpreterContainer::auto()).define().unwrap();
    let reply = response(200, EVENTS, &sse(&events));
    let seen = conversation(Provider::Responses, vec![maths, code], reply).await;

    assert_eq!(seen.first["tools"][0]["authorization"], "t");
    assert_eq!(seen.inputs::<Value>()[0], json!({"a": 40, "b": 2}));
    assert_eq!(seen.inputs::<InterpreterCall>().last().unwrap().code.as_deref(), Some("print(1)"));
    assert_eq!(seen.results[0].decode::<McpCallResult>().unwrap().output.as_deref(), Some("42"));
    assert!(seen.results[1].decode::<InterpreterResult>().is_ok(), "{:?}", seen.results[1]);
    assert_eq!(seen.shown_calls(), 2);
    let sent = seen.second["input"].as_array().unwrap();
    for id in ["mcp_1", "ci_1"] {
        let (was, is) = (
            items.as_array().unwrap().iter().find(|item| item["id"] == id).unwrap(),
            sent.iter().find(|item| item["id"] == id).unwrap_or_else(|| panic!("{id} is missing: {sent:#?}")),
        );
        assert_eq!(
            (&is["type"], is.get("output"), is.get("outputs")),
            (&was["type"], was.get("output"), was.get("outputs"))
        );
    }
}

#[tokio::test]
async fn what_gemini_ran_is_read_and_sent_back() {
    let parts = json!([
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}, "thoughtSignature": "c2ln"},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
        {"text": "One."},
    ]);
    let chunk =
        json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let reply = response(200, EVENTS, &sse(&[chunk.to_string()]));
    let seen = conversation(Provider::Gemini, vec![google::code_execution().define().unwrap()], reply).await;
    assert_eq!(seen.first["tools"], json!([{"codeExecution": {}}]));
    assert_eq!(seen.inputs::<ExecutableCode>()[0].code, "print(1)");
    assert_eq!(seen.results[0].decode::<ExecutedCode>().unwrap().output.as_deref(), Some("1\n"));
    let sent = &seen.second["contents"][1]["parts"];
    assert_eq!((&sent[0], &sent[1]), (&parts[0], &parts[1]), "{:#}", seen.second);
}
