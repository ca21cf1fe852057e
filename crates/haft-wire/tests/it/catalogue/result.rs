//! Results of calls that a provider executed, as the official SDKs write them.

use haft_core::{Item, ProviderCall, ToolCall, ToolCallOutput, ToolResult, TurnRequest};
use haft_executor::{Tool, Toolkit};
use haft_wire::catalogue::anthropic::{
    self, AdvisorError, AdvisorErrorCode, AdvisorResult, CodeExecutionError, CodeExecutionErrorCode,
    CodeExecutionResult, FetchedSource, FoundTools, ToolSearchError, WebFetchError, WebFetchErrorCode, WebFetchResult,
    WebSearchError, WebSearchErrorCode, WebSearchResult,
};
use haft_wire::catalogue::google::{
    self, ExecutedCode, ExecutedOutcome, Grounding, UrlContextResult, UrlRetrievalStatus,
};
use haft_wire::catalogue::openai::{
    self, FileSearchResult, ImageResult, InterpreterContainer, InterpreterOutput, InterpreterResult, McpCallResult,
    ProgramResult, ShellEnvironment, ShellOutput, ToolSearchOutput, WebSearchAction, WebSearchActivity,
};
use haft_wire::catalogue::{CatalogueSettings, CatalogueTool};
use haft_wire::{AnthropicMessages, Delivery, GeminiContent, OpenAiResponses, Wire};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Returns the result that the tool reads from the items of a call.
fn result(tool: Tool, output: &Value, is_error: bool) -> ToolResult {
    let call = ToolCall::new("c1", tool.name(), "{}").executed_by_provider();
    let mut output = ToolCallOutput::new("c1", output.to_string());
    output.is_error = is_error;
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let items: [Item; 2] = [call.into(), output.into()];
    kit.provider_results(&items).remove(0)
}

fn success<S: CatalogueSettings<Success = T>, T: DeserializeOwned>(tool: CatalogueTool<S>, output: &Value) -> T {
    let result = result(tool.define().unwrap(), output, false);
    result.decode().unwrap_or_else(|error| panic!("{output}: {error}"))
}

fn failure<S: CatalogueSettings<Failure = F>, F: DeserializeOwned>(tool: CatalogueTool<S>, output: &Value) -> F {
    let result = result(tool.define().unwrap(), output, true);
    let failure = result.failure().unwrap();
    assert_eq!(failure.kind.as_str(), "tool_failed", "{output}: {failure:?}");
    failure.details.as_ref().unwrap().decode().unwrap()
}

/// Returns the result of an item that contains both call and result.
fn reported<S: CatalogueSettings<Success = T>, T: DeserializeOwned>(tool: CatalogueTool<S>, item: &Value) -> T {
    let tool = tool.define().unwrap();
    let definition = tool.provider_definition().unwrap();
    let call = ProviderCall::new(definition.vendor(), definition.provider_name(), item.clone());
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let results = kit.provider_results(&[Item::ProviderCall(call)]);
    results[0].decode().unwrap_or_else(|error| panic!("{item}: {error}"))
}

#[test]
fn web_search_of_anthropic() {
    let page = json!({
        "type": "web_search_result", "url": "https://a.org", "title": "A", "encrypted_content": "e", "page_age": null,
    });
    let pages: Vec<WebSearchResult> = success(anthropic::web_search(), &json!([page]));
    assert_eq!((pages[0].url.as_str(), &pages[0].page_age), ("https://a.org", &None));
    assert!(success::<_, Vec<WebSearchResult>>(anthropic::web_search(), &json!([])).is_empty());

    let error = |code: &str| json!({"type": "web_search_tool_result_error", "error_code": code});
    let read: WebSearchError = failure(anthropic::web_search(), &error("max_uses_exceeded"));
    assert_eq!(read.error_code, WebSearchErrorCode::MaxUsesExceeded);
    let read: WebSearchError = failure(anthropic::web_search(), &error("out_of_cheese"));
    assert_eq!(read.error_code, WebSearchErrorCode::Other("out_of_cheese".to_owned()));
}

#[test]
fn a_result_of_another_form_is_a_failure() {
    let tool = || anthropic::web_search().define().unwrap();
    let kind = |output: &Value, is_error| result(tool(), output, is_error).failure().unwrap().kind.as_str().to_owned();
    assert_eq!(kind(&json!([{"url": "https://a.org"}]), false), "output_validation_error");
    assert_eq!(
        kind(&json!({"type": "web_search_tool_result_error", "error_code": "x"}), false),
        "output_validation_error"
    );
    assert_eq!(kind(&json!({"type": "web_search_tool_result_error"}), true), "output_validation_error");
}

#[test]
fn web_fetch_of_anthropic() {
    let text = json!({"type": "text", "media_type": "text/plain", "data": "hello"});
    let pdf = json!({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="});
    for source in [text, pdf] {
        let document = json!({"type": "document", "source": source, "title": "A", "citations": {"enabled": true}});
        let page = json!({
            "type": "web_fetch_result", "url": "https://a.org", "content": document, "retrieved_at": "2026-01-01T00:00:00Z",
        });
        let read: WebFetchResult = success(anthropic::web_fetch(), &page);
        let data = match &read.content.source {
            FetchedSource::Text { data, .. } | FetchedSource::Base64 { data, .. } => data,
            other => panic!("{other:?}"),
        };
        assert_eq!(*data, source_data(&page));
    }
    let error = json!({"type": "web_fetch_tool_result_error", "error_code": "url_not_allowed"});
    let read: WebFetchError = failure(anthropic::web_fetch(), &error);
    assert_eq!(read.error_code, WebFetchErrorCode::UrlNotAllowed);
}

fn source_data(page: &Value) -> String {
    page["content"]["source"]["data"].as_str().unwrap().to_owned()
}

#[test]
fn code_execution_of_anthropic() {
    let process = |kind: &str, file: &str| {
        json!({
            "type": kind, "stdout": "2", "stderr": "", "return_code": 0,
            "content": [{"type": file, "file_id": "file_1"}],
        })
    };
    let read: CodeExecutionResult =
        success(anthropic::code_execution(), &process("code_execution_result", "code_execution_output"));
    assert!(matches!(read, CodeExecutionResult::CodeExecutionResult(result) if result.content[0].file_id == "file_1"));
    let read: CodeExecutionResult =
        success(anthropic::code_execution(), &process("bash_code_execution_result", "bash_code_execution_output"));
    assert!(matches!(read, CodeExecutionResult::BashCodeExecutionResult(result) if result.stdout == "2"));
    for other in [
        json!({"type": "encrypted_code_execution_result", "encrypted_stdout": "e", "stderr": "", "return_code": 0, "content": []}),
        json!({
            "type": "text_editor_code_execution_view_result", "file_type": "text", "content": "x",
            "num_lines": 1, "start_line": 1, "total_lines": 1,
        }),
        json!({"type": "text_editor_code_execution_view_result", "file_type": "pdf", "content": "x", "num_lines": null}),
        json!({"type": "text_editor_code_execution_create_result", "is_file_update": false}),
        json!({
            "type": "text_editor_code_execution_str_replace_result", "lines": ["-x", "+y"],
            "old_start": 1, "old_lines": 1, "new_start": 1, "new_lines": 1,
        }),
    ] {
        success::<_, CodeExecutionResult>(anthropic::code_execution(), &other);
    }
    for kind in ["code_execution", "bash_code_execution", "text_editor_code_execution"] {
        let error = json!({"type": format!("{kind}_tool_result_error"), "error_code": "unavailable"});
        let read: CodeExecutionError = failure(anthropic::code_execution(), &error);
        assert_eq!(read.code(), &CodeExecutionErrorCode::Unavailable);
    }
}

#[test]
fn tool_search_of_anthropic() {
    let found = json!({
        "type": "tool_search_tool_search_result",
        "tool_references": [{"type": "tool_reference", "tool_name": "get_weather"}],
    });
    let read: FoundTools = success(anthropic::tool_search_regex(), &found);
    assert_eq!(read.tool_references[0].tool_name, "get_weather");
    success::<_, FoundTools>(anthropic::tool_search_bm25(), &found);
    let error = json!({
        "type": "tool_search_tool_result_error", "error_code": "invalid_tool_input", "error_message": "bad pattern",
    });
    let read: ToolSearchError = failure(anthropic::tool_search_regex(), &error);
    assert_eq!(read.error_message.as_deref(), Some("bad pattern"));
}

#[test]
fn advisor_of_anthropic() {
    let advisor = || anthropic::advisor("claude-opus-5");
    let read: AdvisorResult =
        success(advisor(), &json!({"type": "advisor_result", "text": "Yes.", "stop_reason": null}));
    assert!(matches!(read, AdvisorResult::AdvisorResult { text, .. } if text == "Yes."));
    success::<_, AdvisorResult>(advisor(), &json!({"type": "advisor_redacted_result", "encrypted_content": "e"}));
    let read: AdvisorError =
        failure(advisor(), &json!({"type": "advisor_tool_result_error", "error_code": "overloaded"}));
    assert_eq!(read.error_code, AdvisorErrorCode::Overloaded);
}

#[test]
fn mcp_results_of_anthropic() {
    let read: Value = success(anthropic::mcp_toolset("docs"), &json!([{"type": "text", "text": "found"}]));
    assert_eq!(read[0]["text"], "found");
}

#[test]
fn searches_of_openai() {
    let item = json!({
        "type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "x", "queries": ["x"], "sources": [{"type": "url", "url": "https://a.org"}]},
    });
    let read: WebSearchActivity = reported(openai::web_search(), &item);
    let WebSearchAction::Search { sources: Some(sources), .. } = &read.action else { panic!("{read:?}") };
    assert_eq!(sources[0].url, "https://a.org");
    reported::<_, WebSearchActivity>(openai::web_search_preview(), &item);

    let file =
        json!({"file_id": "file_1", "filename": "a.md", "score": 0.9, "text": "x", "attributes": {"year": 2025}});
    let item = |results: Value| json!({"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["x"], "results": results});
    let read: FileSearchResult = reported(openai::file_search(["vs_1"]), &item(json!([file])));
    assert_eq!(read.results.unwrap()[0].filename.as_deref(), Some("a.md"));
    let read: FileSearchResult = reported(openai::file_search(["vs_1"]), &item(Value::Null));
    assert_eq!((read.results, read.queries.len()), (None, 1));
}

#[test]
fn code_of_openai() {
    let outputs = json!([{"type": "logs", "logs": "2"}, {"type": "image", "url": "https://a.org/i.png"}]);
    let item = json!({
        "type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1 + 1", "container_id": "c",
        "outputs": outputs,
    });
    let interpreter = || openai::code_interpreter(InterpreterContainer::auto());
    let read: InterpreterResult = reported(interpreter(), &item);
    assert!(matches!(&read.outputs.unwrap()[0], InterpreterOutput::Logs { logs } if logs == "2"));
    let failed = json!({
        "type": "code_interpreter_call", "id": "ci_1", "status": "failed", "code": null, "container_id": "c",
        "outputs": null,
    });
    assert_eq!(reported::<_, InterpreterResult>(interpreter(), &failed).status.as_deref(), Some("failed"));

    let output = json!({
        "type": "shell_call_output", "id": "sho_1", "call_id": "c1", "status": "completed", "max_output_length": null,
        "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}, {
            "stdout": "", "stderr": "", "outcome": {"type": "timeout"},
        }],
    });
    let read: ShellOutput = reported(openai::shell().environment(ShellEnvironment::container()), &output);
    assert_eq!(read.output.len(), 2);
    let output = json!({"type": "program_output", "id": "p", "call_id": "c1", "result": "3", "status": "completed"});
    assert_eq!(reported::<_, ProgramResult>(openai::programmatic_tool_calling(), &output).result, "3");
}

#[test]
fn other_results_of_openai() {
    let image = json!({
        "type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "iVBORw0KGgo=",
        "output_format": "png", "quality": "high", "size": "1024x1024", "revised_prompt": "a cat", "background": "opaque",
    });
    let read: ImageResult = reported(openai::image_generation(), &image);
    assert_eq!(read.revised_prompt.as_deref(), Some("a cat"));
    let failed = json!({
        "type": "image_generation_call", "id": "ig_1", "status": "failed", "result": null,
        "error": {"type": "image_generation_user_error", "message": "no", "code": "moderation_blocked"},
    });
    assert!(reported::<_, ImageResult>(openai::image_generation(), &failed).error.is_some());

    let call = |output: Value, error: Value| {
        json!({
            "type": "mcp_call", "id": "mcp_1", "name": "search", "arguments": "{}", "server_label": "docs",
            "output": output, "error": error, "status": "completed", "approval_request_id": null,
        })
    };
    let read: McpCallResult = reported(openai::mcp("docs"), &call(json!("found"), Value::Null));
    assert_eq!((read.output.as_deref(), read.error), (Some("found"), None));
    for error in [json!({"type": "http_error", "code": 500, "message": "no"}), json!("no")] {
        assert_eq!(
            reported::<_, McpCallResult>(openai::mcp("docs"), &call(Value::Null, error.clone())).error,
            Some(error)
        );
    }

    let found = json!({
        "type": "tool_search_output", "id": "ts_1", "call_id": null, "execution": "server", "status": "completed",
        "tools": [{"type": "function", "name": "f", "parameters": {}, "strict": true}],
    });
    assert_eq!(reported::<_, ToolSearchOutput>(openai::tool_search(), &found).tools.len(), 1);
}

#[test]
fn results_of_google() {
    let grounding = json!({
        "webSearchQueries": ["x"],
        "searchEntryPoint": {"renderedContent": "<div></div>", "sdkBlob": "e30="},
        "groundingChunks": [
            {"web": {"uri": "https://a.org", "title": "A", "domain": "a.org"}},
            {"maps": {"uri": "https://maps", "title": "Cafe", "placeId": "p", "text": "good", "placeAnswerSources": {}}},
            {"retrievedContext": {"uri": "f", "title": "a.md", "text": "x", "fileSearchStore": "fileSearchStores/a"}},
            {"image": {"sourceUri": "https://a.org", "imageUri": "https://a.org/i.png", "title": "I", "domain": "a.org"}},
        ],
        "groundingSupports": [{
            "segment": {"startIndex": 0, "endIndex": 3, "text": "abc"}, "groundingChunkIndices": [0],
            "confidenceScores": [0.5],
        }, {"segment": {"endIndex": 9}}],
        "retrievalMetadata": {"googleSearchDynamicRetrievalScore": 0.5},
    });
    let read: Grounding = reported(google::google_search(), &grounding);
    assert_eq!(read.grounding_chunks.as_ref().unwrap()[0].web.as_ref().unwrap().uri.as_deref(), Some("https://a.org"));
    assert_eq!(read.grounding_supports.unwrap()[0].grounding_chunk_indices, [0]);
    reported::<_, Grounding>(google::google_maps(), &grounding);
    reported::<_, Grounding>(google::file_search(["fileSearchStores/a"]), &grounding);
    assert_eq!(reported::<_, Grounding>(google::google_search_retrieval(), &json!({})), Grounding::default());

    let urls = json!({"urlMetadata": [
        {"retrievedUrl": "https://a.org", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
        {"retrievedUrl": "https://b.org", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_TEAPOT"},
    ]});
    let read: UrlContextResult = reported(google::url_context(), &urls);
    assert_eq!(read.url_metadata[0].url_retrieval_status, Some(UrlRetrievalStatus::Success));
    assert!(matches!(&read.url_metadata[1].url_retrieval_status, Some(UrlRetrievalStatus::Other(_))));

    let read: ExecutedCode = reported(google::code_execution(), &json!({"outcome": "OUTCOME_OK", "output": "2\n"}));
    assert_eq!((read.outcome, read.output.as_deref()), (ExecutedOutcome::Ok, Some("2\n")));
    let read: ExecutedCode = reported(google::code_execution(), &json!({"outcome": "OUTCOME_FAILED"}));
    assert_eq!(read.outcome, ExecutedOutcome::Failed);
}

/// Returns the results of the calls in a response that the provider executed.
fn results_in(wire: &dyn Wire, tool: Tool, response: &Value) -> Vec<ToolResult> {
    let kit: Toolkit = Toolkit::from_iter([tool]);
    let request = TurnRequest::new("a-model", vec![Item::user("?")]).tools(&kit.descriptors());
    let context = wire.request(&request, Delivery::Whole).unwrap().context;
    let turn = wire.response(&response.to_string(), &context).unwrap();
    kit.provider_results(&turn.items)
}

#[test]
fn results_are_read_from_the_turn_of_a_wire() {
    let page = json!({"type": "web_search_result", "url": "https://a.org", "title": "A", "encrypted_content": "e"});
    let call = |id: &str| json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "a"}});
    let found = |id: &str| json!({"type": "web_search_tool_result", "tool_use_id": id, "content": [page]});
    let text = json!({"type": "text", "text": "and"});
    let message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "a-model", "stop_reason": "pause_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
        // One that is followed by its result, one whose result comes later, and one without a result.
        "content": [call("s1"), found("s1"), call("s2"), text, found("s2"), call("s3")],
    });
    let search = anthropic::web_search().define().unwrap();
    let results = results_in(&AnthropicMessages::new(), search, &message);
    let ids: Vec<_> = results.iter().map(|result| result.call_id.as_str()).collect();
    assert_eq!(ids, ["s1", "s2"]);
    for result in &results {
        assert_eq!(result.decode::<Vec<WebSearchResult>>().unwrap()[0].url, "https://a.org");
    }

    let parts = json!([
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
        {"text": "One."},
    ]);
    let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0});
    let code = google::code_execution().define().unwrap();
    let results = results_in(&GeminiContent::new(), code, &json!({"candidates": [candidate]}));
    let [result] = results.as_slice() else { panic!("{results:?}") };
    assert_eq!(result.decode::<ExecutedCode>().unwrap().output.as_deref(), Some("1\n"));
}

/// Returns the calls that the provider executed with their results, from a whole response and from its stream. No call
/// is left for the application, and every tool is sent.
fn hosted(
    wire: &dyn Wire,
    tools: impl IntoIterator<Item = Tool>,
    response: &Value,
    events: &[Value],
) -> Vec<(Vec<ProviderCall>, Vec<ToolResult>)> {
    let kit: Toolkit = Toolkit::from_iter(tools);
    let request = TurnRequest::new("a-model", vec![Item::user("?")]).tools(&kit.descriptors());
    let context = wire.request(&request, Delivery::Whole).unwrap().context;
    assert_eq!(context.tools.iter().count(), kit.len(), "{:?}", context.tools.findings());
    let (mut reader, mut deltas) = (wire.stream(&context), Vec::new());
    for event in events {
        reader.event(haft_wire::WireEvent::new(None, &event.to_string()), &mut deltas).unwrap();
    }
    reader.end(&mut deltas).unwrap();
    let Some(haft_core::Delta::TurnComplete(streamed)) = deltas.pop() else { panic!("no turn") };
    let whole = wire.response(&response.to_string(), &context).unwrap();
    let read = |items: &[Item]| {
        let calls = items.iter().filter_map(|item| match item {
            Item::ProviderCall(call) => Some(call.clone()),
            Item::ToolCall(call) => panic!("{call:?}"),
            _ => None,
        });
        (calls.collect(), kit.provider_results(items))
    };
    vec![read(&whole.items), read(&streamed.items)]
}

/// Returns an Anthropic message with these blocks, and its events.
fn message(blocks: &[Value]) -> (Value, Vec<Value>) {
    let mut message = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "a-model", "content": [], "stop_reason": null,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let mut events = vec![json!({"type": "message_start", "message": message})];
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
    message["content"] = blocks.into();
    message["stop_reason"] = json!("end_turn");
    (message, events)
}

#[test]
fn results_of_the_shell_and_the_editor_of_a_code_execution_are_found() {
    let call =
        |id: &str, name: &str, input: Value| json!({"type": "server_tool_use", "id": id, "name": name, "input": input});
    let ran =
        json!({"type": "bash_code_execution_result", "stdout": "hi\n", "stderr": "", "return_code": 0, "content": []});
    let created = json!({"type": "text_editor_code_execution_create_result", "is_file_update": false});
    let failed = json!({"type": "bash_code_execution_tool_result_error", "error_code": "unavailable"});
    let result = |id: &str, kind: &str, content: &Value| json!({"type": format!("{kind}_code_execution_tool_result"), "tool_use_id": id, "content": content});
    let (response, events) = message(&[
        call("s1", "bash_code_execution", json!({"command": "echo hi"})),
        result("s1", "bash", &ran),
        call("s2", "text_editor_code_execution", json!({"command": "create", "path": "a", "file_text": "b"})),
        call("s3", "bash_code_execution", json!({"command": "false"})),
        // Not right after its call.
        result("s2", "text_editor", &created),
        result("s3", "bash", &failed),
    ]);
    let wire = AnthropicMessages::new();
    for (calls, results) in hosted(&wire, [anthropic::code_execution().define().unwrap()], &response, &events) {
        assert!(calls.iter().all(|call| call.name == "code_execution"), "{calls:?}");
        let inputs: Vec<anthropic::CodeExecutionCall> = calls.iter().filter_map(|call| call.input().ok()).collect();
        let [
            anthropic::CodeExecutionCall::Bash { command },
            anthropic::CodeExecutionCall::Editor(anthropic::CodeFileCommand::Create { path, .. }),
            anthropic::CodeExecutionCall::Bash { .. },
        ] = &inputs[..]
        else {
            panic!("{inputs:?}")
        };
        assert_eq!((command.as_str(), path.as_str()), ("echo hi", "a"));
        let [first, second, third] = &results[..] else { panic!("{results:?}") };
        assert!(
            matches!(first.decode().unwrap(), CodeExecutionResult::BashCodeExecutionResult(ran) if ran.stdout == "hi\n")
        );
        let created = CodeExecutionResult::TextEditorCodeExecutionCreateResult { is_file_update: false };
        assert_eq!(second.decode::<CodeExecutionResult>().unwrap(), created);
        let details: CodeExecutionError = third.failure().unwrap().details.as_ref().unwrap().decode().unwrap();
        assert_eq!(details.code(), &CodeExecutionErrorCode::Unavailable);
    }
}

#[test]
fn results_of_an_mcp_server_are_found() {
    let text = json!([{"type": "text", "text": "42"}]);
    let (response, events) = message(&[
        json!({"type": "mcp_tool_use", "id": "t1", "name": "add", "server_name": "maths", "input": {"a": 40, "b": 2}}),
        json!({"type": "mcp_tool_result", "tool_use_id": "t1", "is_error": false, "content": text}),
    ]);
    let toolset = anthropic::mcp_toolset("maths").define().unwrap();
    for (calls, results) in hosted(&AnthropicMessages::new(), [toolset], &response, &events) {
        let ([call], [result]) = (&calls[..], &results[..]) else { panic!("{calls:?} {results:?}") };
        assert_eq!((call.name.as_str(), &call.payload[0]["name"]), ("mcp_toolset", &json!("add")));
        assert_eq!(call.input::<Value>().unwrap(), json!({"a": 40, "b": 2}));
        assert_eq!(
            (result.tool.to_string().as_str(), result.decode::<Value>().unwrap()),
            ("AnthropicMcpToolset", text.clone())
        );
    }

    let item = json!({"type": "mcp_call", "id": "mcp_1", "name": "add", "server_label": "maths", "status": "completed",
        "arguments": "{\"a\":40,\"b\":2}", "output": "42", "error": null});
    let (response, events) = output(&[item]);
    let mcp = openai::mcp("maths").server_url("https://maths.example").define().unwrap();
    for (calls, results) in hosted(&OpenAiResponses::new(), [mcp], &response, &events) {
        assert_eq!(calls[0].input::<Value>().unwrap(), json!({"a": 40, "b": 2}));
        assert_eq!(results[0].decode::<McpCallResult>().unwrap().output.as_deref(), Some("42"));
    }
}

#[test]
fn what_a_provider_ran_is_read() {
    let (response, events) =
        message(&[json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "haft"}})]);
    for (calls, results) in
        hosted(&AnthropicMessages::new(), [anthropic::web_search().define().unwrap()], &response, &events)
    {
        assert_eq!((calls[0].input::<Value>().unwrap(), results.len()), (json!({"query": "haft"}), 0));
    }

    let item = json!({"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "print(1)",
        "container_id": "cntr_1", "outputs": [{"type": "logs", "logs": "1"}]});
    let (response, events) = output(&[item]);
    let interpreter = openai::code_interpreter(InterpreterContainer::Id("cntr_1".to_owned())).define().unwrap();
    for (calls, _) in hosted(&OpenAiResponses::new(), [interpreter], &response, &events) {
        assert_eq!(calls[0].input::<openai::InterpreterCall>().unwrap().code.as_deref(), Some("print(1)"));
    }

    let parts = json!([{"executableCode": {"language": "PYTHON", "code": "print(1)"}}, {"text": "One."}]);
    let response =
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}]});
    let code = google::code_execution().define().unwrap();
    for (calls, _) in hosted(&GeminiContent::new(), [code], &response, std::slice::from_ref(&response)) {
        assert_eq!(calls[0].input::<google::ExecutableCode>().unwrap().code, "print(1)");
    }
}

/// Returns an OpenAI response with these items, and its events.
fn output(items: &[Value]) -> (Value, Vec<Value>) {
    let response = json!({"id": "r", "status": "completed", "output": items});
    let done = |(at, item)| json!({"type": "response.output_item.done", "output_index": at, "item": item});
    let mut events: Vec<Value> = items.iter().enumerate().map(done).collect();
    events.push(json!({"type": "response.completed", "response": response}));
    (response, events)
}

fn tools_of(results: &[ToolResult]) -> Vec<(&str, &str)> {
    results.iter().map(|result| (result.call_id.as_str(), result.tool.as_str())).collect()
}

#[test]
fn each_result_of_several_mcp_servers_belongs_to_its_own_server() {
    let call = |id: &str, server: &str| json!({"type": "mcp_tool_use", "id": id, "name": "add", "server_name": server, "input": {}});
    let result = |id: &str| json!({"type": "mcp_tool_result", "tool_use_id": id, "is_error": false, "content": []});
    let (response, events) = message(&[
        call("t1", "second"),
        result("t1"),
        call("t2", "first"),
        call("t3", "second"),
        call("t4", "unknown"),
        result("t4"),
        // Not right after their calls.
        result("t3"),
        result("t2"),
    ]);
    let toolsets =
        ["first", "second"].map(|server| anthropic::mcp_toolset(server).define().unwrap().with_name(server).unwrap());
    for (_, results) in hosted(&AnthropicMessages::new(), toolsets, &response, &events) {
        assert_eq!(tools_of(&results), [("t1", "second"), ("t3", "second"), ("t2", "first")]);
    }

    let call = |id: &str, server: &str| {
        json!({"type": "mcp_call", "id": id, "name": "add", "server_label": server, "arguments": "{}", "output": "1",
            "error": null, "status": "completed"})
    };
    let (response, events) = output(&[call("m1", "second"), call("m2", "first"), call("m3", "unknown")]);
    let servers = ["first", "second"].map(|server| {
        let tool = openai::mcp(server).server_url("https://maths.example").define().unwrap();
        tool.with_name(server).unwrap()
    });
    for (_, results) in hosted(&OpenAiResponses::new(), servers, &response, &events) {
        assert_eq!(tools_of(&results), [("m1", "second"), ("m2", "first")]);
    }
}

#[test]
fn a_result_in_a_later_turn_belongs_to_the_server_of_its_call() {
    let call = json!({"type": "mcp_tool_use", "id": "t1", "name": "add", "server_name": "second", "input": {"a": 1}});
    let result = json!({"type": "mcp_tool_result", "tool_use_id": "t1", "is_error": false, "content": []});
    let kit: Toolkit = Toolkit::from_iter(
        ["first", "second"].map(|server| anthropic::mcp_toolset(server).define().unwrap().with_name(server).unwrap()),
    );
    let wire = AnthropicMessages::new();
    let request = TurnRequest::new("a-model", vec![Item::user("?")]).tools(&kit.descriptors());
    let context = wire.request(&request, Delivery::Whole).unwrap().context;
    let read = |block: Value| wire.response(&message(&[block]).0.to_string(), &context).unwrap().items;
    let items: Vec<Item> = [call, result].into_iter().flat_map(read).collect();
    assert_eq!(tools_of(&kit.provider_results(&items)), [("t1", "second")]);
    let Item::ProviderCall(only_result) = &items[1] else { panic!("{items:?}") };
    assert!(only_result.input::<Value>().unwrap_err().to_string().contains("reports a result only"));
}

#[test]
fn an_item_without_a_result_is_no_result() {
    let (response, events) = output(&[
        json!({"type": "shell_call", "id": "sh_1", "call_id": "c1", "status": "completed",
            "action": {"commands": ["ls"]}, "environment": {"type": "container_reference", "container_id": "cntr_1"}}),
        json!({"type": "shell_call_output", "id": "sho_1", "call_id": "c1", "status": "completed",
            "output": [{"stdout": "a", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}),
    ]);
    let shell = || openai::shell().environment(ShellEnvironment::container()).define().unwrap();
    for (calls, results) in hosted(&OpenAiResponses::new(), [shell()], &response, &events) {
        let ([call, output], [result]) = (&calls[..], &results[..]) else { panic!("{calls:?} {results:?}") };
        assert_eq!(call.input::<openai::ShellCall>().unwrap().action.commands, ["ls"]);
        assert!(output.input::<Value>().is_err());
        assert_eq!(result.decode::<ShellOutput>().unwrap().output[0].stdout, "a");
    }

    let (response, events) =
        output(&[json!({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "maths", "tools": []})]);
    let mcp = openai::mcp("maths").server_url("https://maths.example").define().unwrap();
    for (calls, results) in hosted(&OpenAiResponses::new(), [mcp], &response, &events) {
        assert!(calls[0].input::<Value>().is_err() && results.is_empty(), "{results:?}");
    }

    let parts = json!([{"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}]);
    let response =
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}]});
    let code = google::code_execution().define().unwrap();
    for (calls, results) in hosted(&GeminiContent::new(), [code], &response, std::slice::from_ref(&response)) {
        assert!(calls[0].input::<Value>().is_err());
        assert_eq!(results[0].decode::<ExecutedCode>().unwrap().output.as_deref(), Some("1"));
    }
}
