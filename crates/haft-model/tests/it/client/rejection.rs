//! Requests before a service that rejects what the real ones reject, with the errors that were reported. The clients leave
//! off, move or correct what causes them.

use std::sync::{Arc, Mutex};

use haft_core::{ContentPart, MediaData, ProviderOptions, Reasoning, ToolCall, ToolCallOutput, ToolDescriptor};
use haft_executor::Toolkit;
use haft_model::{LoopEnd, RequestReport, TurnLoop};
use haft_wire::{OpenAiResponses, Profile};
use serde_json::json;

use super::*;

/// Sends a request to a service that answers with an error if it rejects the body, and otherwise with `Hello`. Returns the
/// body and the turn.
async fn judged(
    model: &dyn LanguageModel,
    (server, provider): (&Server, Provider),
    request: &TurnRequest,
    rejects: impl Fn(&Value) -> Option<&'static str>,
) -> (Value, Result<Turn, ModelError>) {
    let served = served((server, provider), rejects);
    let (turn, (body, _connection)) = join!(model.stream_turn(request).into_turn(), served);
    (body, turn)
}

/// Answers one request, with an error if the service rejects the body.
async fn served(
    (server, provider): (&Server, Provider),
    rejects: impl Fn(&Value) -> Option<&'static str>,
) -> (Value, Connection) {
    let mut connection = server.accept().await;
    let body = SentText(connection.request().await).body();
    let reply = match rejects(&body) {
        None => response(200, JSON, provider.body()),
        Some(message) => response(400, JSON, &provider.error("invalid_request_error", message)),
    };
    connection.write(reply.replacen("\r\n", "\r\nconnection: close\r\n", 1)).await;
    (body, connection)
}

fn named(model: &str) -> TurnRequest {
    TurnRequest::new(model, vec![Item::user("hi")])
}

/// OpenAI's answer to encrypted reasoning that is requested from or sent to a model that does not reason.
fn without_reasoning(body: &Value) -> Option<&'static str> {
    let asks =
        body["include"].as_array().is_some_and(|include| include.contains(&json!("reasoning.encrypted_content")));
    let mut items = body["input"].as_array().unwrap().iter();
    (asks || items.any(|item| item["type"] == "reasoning"))
        .then_some("Encrypted content is not supported with this model.")
}

#[tokio::test]
async fn a_conversation_moves_to_a_model_that_does_not_reason() {
    let server = Server::start().await;
    let model = Provider::Responses.whole(&server);
    let mut thought = Reasoning::text("");
    thought.provider = Some("openai".to_owned());
    (thought.id, thought.encrypted) = (Some("rs_1".to_owned()), Some("ZW5j".to_owned()));
    for name in ["gpt-4.1", "ft:gpt-4.1-mini:acme::7p4l", "chatgpt-4o-latest", "prod-assistant"] {
        let mut request = named(name);
        request.history.extend([Item::Reasoning(thought.clone()), Item::assistant("yes"), Item::user("go on")]);
        let (_, turn) = judged(&*model, (&server, Provider::Responses), &request, without_reasoning).await;
        assert_eq!(turn.unwrap().text(), "Hello", "{name}");
    }
    let asks = |body: &Value| without_reasoning(body).is_none().then_some("not asked");
    let (_, turn) = judged(&*model, (&server, Provider::Responses), &named("openai/gpt-5.2"), asks).await;
    turn.unwrap();
}

#[tokio::test]
async fn the_application_decides_about_encrypted_reasoning() {
    let server = Server::start().await;
    let to = (&server, Provider::Responses);
    let model = Provider::Responses.whole(&server);
    let asked = json!(["reasoning.encrypted_content"]);
    let (body, _) = judged(&*model, to, &named("gpt-5.4"), |_| None).await;
    assert_eq!(body["include"], asked);
    for nothing in [json!([]), Value::Null] {
        let request = named("gpt-5.4").provider_options("openai", json!({"include": nothing}));
        let (body, turn) = judged(&*model, to, &request, without_reasoning).await;
        assert_eq!((&body["include"], turn.unwrap().text().as_str()), (&nothing, "Hello"));
    }
    // A deployment may be any model. The application knows.
    let azure = OpenAi::azure(server.url(""), Secret::new(KEY)).http_client(client()).whole();
    let (body, turn) = judged(&azure, to, &named("prod-assistant"), without_reasoning).await;
    assert_eq!((body.get("include"), turn.unwrap().text().as_str()), (None, "Hello"));
    let reasons = json!({"reasoning": {"effort": "low"}, "include": asked});
    let request = named("prod-assistant").provider_options("openai", reasons);
    let (body, _) = judged(&azure, to, &request, |_| None).await;
    assert_eq!(body["include"], asked);
}

#[tokio::test]
async fn a_namespace_of_a_registry_is_one_of_openai() {
    let server = Server::start().await;
    let schema = || json!({"type": "object", "properties": {}, "additionalProperties": false});
    let deferred = |name: &str| {
        let mut tool = ToolDescriptor::new(name, schema()).describe("Reads orders.");
        tool.provider_options = ProviderOptions::new().deferred();
        Arc::new(tool)
    };
    let search = haft_wire::catalogue::openai::tool_search().define().unwrap().descriptor();
    let tools = [deferred("crm/list"), deferred("crm/find"), Arc::new(ToolDescriptor::new("look", schema())), search];
    let wire = OpenAiResponses::new().profile(Profile::openai().namespaces().namespace("crm", "Customers and orders."));
    let model =
        OpenAi::new(Secret::new(KEY)).responses_wire(wire).base_url(server.url("")).http_client(client()).whole();
    // The names that the model calls are those of the namespace.
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "crm--list", "namespace": "crm", "arguments": "{}",
        "status": "completed"});
    let reply = json!({"id": "r1", "object": "response", "status": "completed", "output": [call]}).to_string();
    let reply = response(200, JSON, &reply);
    let request = named("gpt-5.4").tools(&tools);
    let (turn, (sent, _connection)) = join!(model.stream_turn(&request).into_turn(), answer(&server, &reply));
    let sent = SentText(sent).body();
    let namespaces: Vec<_> =
        sent["tools"].as_array().unwrap().iter().filter(|tool| tool["type"] == "namespace").collect();
    assert_eq!((namespaces.len(), &namespaces[0]["description"]), (1, &json!("Customers and orders.")), "{sent:#}");
    assert_eq!(namespaces[0]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(turn.unwrap().tool_calls()[0].name, "crm/list");
}

#[tokio::test]
async fn reasoning_is_dropped_and_reported_by_every_wire_if_the_model_has_none() {
    let thought = |provider: &str| {
        let mut thought = Reasoning::text("Hm, let me think.");
        thought.provider = Some(provider.to_owned());
        thought.id = Some("rs_1".to_owned());
        (thought.signature, thought.encrypted) = (Some("c2ln".to_owned()), Some("ZW5j".to_owned()));
        let details = json!([{"type": "reasoning.text", "text": "Hm, let me think.", "signature": "c2ln", "index": 0}]);
        thought.provider_data.insert(provider.to_owned(), json!({"member": "reasoning", "details": details}));
        Item::Reasoning(thought)
    };
    let gateway = |url: String| OpenAi::compatible("openrouter", url).http_client(client()).whole();
    for (provider, name, reasoning, plain) in [
        (Provider::Responses, "openai", "gpt-5.4", "gpt-4.1"),
        (Provider::Chat, "openrouter", "anthropic/claude-opus-4.7", "openai/gpt-4.1"),
        (Provider::Anthropic, "anthropic", "claude-opus-4-8", "claude-3-5-haiku-latest"),
        (Provider::Gemini, "google", "gemini-2.5-flash", "gemini-2.0-flash"),
    ] {
        let server = Server::start().await;
        let (reports, url) = (Arc::new(Mutex::new(String::new())), server.url(""));
        let log = Arc::clone(&reports);
        let add = move |report: &RequestReport<'_>| log.lock().unwrap().push_str(&report.to_string());
        let key = || Secret::new(KEY);
        let model: Box<dyn LanguageModel> = match provider {
            Provider::Responses => {
                Box::new(OpenAi::new(key()).base_url(url).http_client(client()).whole().on_report(add))
            }
            Provider::Chat => Box::new(gateway(url).on_report(add)),
            Provider::Anthropic => {
                Box::new(Anthropic::new(key()).base_url(url).http_client(client()).whole().on_report(add))
            }
            Provider::Gemini => Box::new(Gemini::new(key()).base_url(url).http_client(client()).whole().on_report(add)),
        };
        // The turn with a call that the next request continues.
        let call = ToolCall::new("c1", "look", "{}");
        let history = [Item::user("hi"), thought(name), call.into(), ToolCallOutput::new("c1", "dark").into()].to_vec();
        let thinks = |body: &Value| {
            let text = body.to_string();
            (text.contains("Hm, let me") || text.contains("ZW5j")).then_some("this model does not support thinking")
        };
        let to = (&server, provider);
        let (_, turn) = judged(&*model, to, &TurnRequest::new(reasoning, history.clone()), thinks).await;
        assert!(turn.unwrap_err().to_string().contains("does not support thinking"), "{provider:?}: it is sent");
        let (_, turn) = judged(&*model, to, &TurnRequest::new(plain, history), thinks).await;
        assert_eq!(turn.unwrap().text(), "Hello", "{provider:?}");
        let reports = reports.lock().unwrap();
        assert!(reports.contains("reasoning: "), "{provider:?}: {reports}");
    }
}

#[tokio::test]
async fn settings_that_a_model_rejects_are_left_off() {
    let server = Server::start().await;
    let sampled = |body: &Value| body.get("temperature").map(|_| "`temperature` is deprecated for this model.");
    for (provider, name) in [
        (Provider::Anthropic, "claude-opus-4-7"),
        (Provider::Anthropic, "anthropic/claude-opus-4.8"),
        (Provider::Chat, "o3"),
        (Provider::Responses, "openai/gpt-5"),
    ] {
        let model = provider.whole(&server);
        let (_, turn) = judged(&*model, (&server, provider), &named(name).temperature(0.5), sampled).await;
        assert_eq!(turn.unwrap().text(), "Hello", "{name}");
        // The application may know better than the table.
        let options = named(name).temperature(0.5).provider_options(
            if provider == Provider::Anthropic { "anthropic" } else { "openai" },
            json!({"temperature": 0.5}),
        );
        let (body, turn) = judged(&*model, (&server, provider), &options, sampled).await;
        assert_eq!(body["temperature"], 0.5);
        assert!(turn.unwrap_err().to_string().contains("deprecated for this model"));
    }
}

#[tokio::test]
async fn what_the_table_doubts_is_sent() {
    let server = Server::start().await;
    let model = Provider::Chat.whole(&server);
    let image = ContentPart::image("image/png", MediaData::Base64("AA==".to_owned()));
    let mut request = named("gpt-4-0613").max_output_tokens(9_000);
    request.history.push(haft_core::Message::new(haft_core::Role::User, vec![image]).into());
    let (body, turn) = judged(&*model, (&server, Provider::Chat), &request, |_| None).await;
    turn.unwrap();
    assert!(body["max_completion_tokens"] == 9_000 && body.to_string().contains("data:image/png"), "{body}");
}

#[tokio::test]
async fn images_that_a_tool_returns_do_not_fail_the_requests_to_gemini_2() {
    let server = Server::start().await;
    let model = Provider::Gemini.whole(&server);
    let image = ContentPart::image("image/png", MediaData::Base64("AA==".to_owned()));
    let mut request = named("gemini-2.5-flash");
    request.history.extend([
        ToolCall::new("c1", "shoot", "{}").into(),
        ToolCallOutput::new("c1", vec![image]).into(),
        Item::user("well?"),
    ]);
    let inside = |body: &Value| {
        let parts =
            body["contents"].as_array().unwrap().iter().flat_map(|content| content["parts"].as_array().unwrap());
        let mut responses = parts.filter_map(|part| part.get("functionResponse"));
        responses
            .any(|response| response.get("parts").is_some())
            .then_some("Unable to submit multimodal function response")
    };
    let (body, turn) = judged(&*model, (&server, Provider::Gemini), &request, inside).await;
    assert_eq!(turn.unwrap().text(), "Hello");
    assert_eq!(body["contents"][2]["parts"][2]["inlineData"]["data"], "AA==", "{body:#}");
}

#[tokio::test]
async fn tools_that_programs_call_are_neither_strict_nor_called_one_by_one() {
    let server = Server::start().await;
    let tool = |caller: &str| {
        let mut tool =
            ToolDescriptor::new("look", json!({"type": "object", "properties": {}, "additionalProperties": false}));
        tool.provider_options = ProviderOptions::new().allowed_caller(caller);
        tool.strict = Some(true);
        tool
    };
    let rejected = |body: &Value| {
        let alone = body.pointer("/tool_choice/disable_parallel_tool_use") == Some(&json!(true));
        let strict = body["tools"][0]["strict"] == true;
        (alone || strict).then_some("tools.0: `strict` is not supported with programmatic tool calling")
    };
    for (provider, name, caller) in [
        (Provider::Anthropic, "claude-opus-4-8", "code_execution_20260120"),
        (Provider::Responses, "gpt-5.4", "programmatic"),
    ] {
        let model = provider.whole(&server);
        let request = named(name).tools(&[tool(caller)]).forbid_parallel_calls();
        let (body, turn) = judged(&*model, (&server, provider), &request, rejected).await;
        assert_eq!(turn.unwrap().text(), "Hello", "{name}");
        assert_eq!(body["tools"][0]["allowed_callers"], json!([caller]));
    }
}

#[tokio::test]
async fn a_tool_that_must_be_strict_is_sent_so_or_fails_the_request_by_name() {
    let server = Server::start().await;
    let values: Vec<_> = (0..1001).map(|at| format!("value{at}")).collect();
    let schema = json!({"type": "object", "properties": {"v": {"type": "string", "enum": values}}, "required": ["v"],
                        "additionalProperties": false});
    let mut tool = ToolDescriptor::new("pay", schema);
    tool.strict = Some(true);
    let request = named("gpt-5.4").tools(&[tool]);
    let model = Provider::Responses.whole(&server);
    let error = model.stream_turn(&request).into_turn().await.unwrap_err().to_string();
    assert!(
        error.contains("`pay`") && error.contains("must be strict") && error.contains("allow_downgrades"),
        "{error}"
    );

    let wire = OpenAiResponses::new().profile(Profile::openai().allow_downgrades());
    let model =
        OpenAi::new(Secret::new(KEY)).responses_wire(wire).base_url(server.url("")).http_client(client()).whole();
    let (body, turn) = judged(&model, (&server, Provider::Responses), &request, |_| None).await;
    turn.unwrap();
    assert_eq!((&body["tools"][0]["name"], &body["tools"][0]["strict"]), (&json!("pay"), &json!(false)));

    // A model without strict mode gets the tool without the flag.
    let mut tool =
        ToolDescriptor::new("pay", json!({"type": "object", "properties": {}, "additionalProperties": false}));
    tool.strict = Some(true);
    let (model, request) = (Provider::Anthropic.whole(&server), named("claude-opus-4-20250514").tools(&[tool]));
    let (body, turn) = judged(&*model, (&server, Provider::Anthropic), &request, |_| None).await;
    turn.unwrap();
    assert_eq!((&body["tools"][0]["name"], &body["tools"][0]["strict"]), (&json!("pay"), &json!(false)));
}

#[tokio::test]
async fn what_a_failed_call_returned_besides_text_follows_its_result() {
    let server = Server::start().await;
    let model = Provider::Anthropic.whole(&server);
    let image = ContentPart::image("image/png", MediaData::Base64("AA==".to_owned()));
    let mut request = named("claude-sonnet-4-5");
    let failed = ToolCallOutput::new("c1", vec![ContentPart::text("too dark"), image]).error();
    request.history.extend([ToolCall::new("c1", "shoot", "{}").into(), failed.into()]);
    let rejects = |body: &Value| {
        let is_mixed = |result: &Value| {
            let mut blocks = result["content"].as_array().into_iter().flatten();
            result["is_error"] == true && blocks.any(|block| block["type"] != "text")
        };
        let mut blocks =
            body["messages"].as_array().unwrap().iter().flat_map(|message| message["content"].as_array().unwrap());
        blocks
            .any(is_mixed)
            .then_some("messages.2.content.0.tool_result: all content must be type \"text\" if \"is_error\" is true")
    };
    let (body, turn) = judged(&*model, (&server, Provider::Anthropic), &request, rejects).await;
    assert_eq!(turn.unwrap().text(), "Hello");
    assert_eq!(body["messages"][2]["content"][2]["source"]["data"], "AA==", "{body:#}");
}

#[tokio::test]
async fn references_to_tools_that_are_gone_do_not_fail_the_conversation() {
    let server = Server::start().await;
    let model = Provider::Anthropic.whole(&server);
    let found = |name: &str| json!({"type": "tool_reference", "tool_name": name});
    let blocks = json!([
        {"type": "server_tool_use", "id": "s1", "name": "tool_search_tool_regex", "input": {"query": "look"}},
        {"type": "tool_search_tool_result", "tool_use_id": "s1", "content": {
            "type": "tool_search_tool_search_result", "tool_references": [found("listen"), found("look")]}},
    ]);
    let search = haft_core::ProviderCall::new("anthropic", "tool_search_tool_regex", blocks).call_id("s1");
    let mut request = named("claude-sonnet-4-5").tools(&[ToolDescriptor::new("look", json!({"type": "object"}))]);
    request.history.extend([search.into(), Item::assistant("Found."), Item::user("go on")]);
    let rejects = |body: &Value| {
        let text = body["messages"].to_string();
        text.contains(r#""tool_name":"listen""#).then_some("Tool reference 'listen' not found in available tools")
    };
    let (body, turn) = judged(&*model, (&server, Provider::Anthropic), &request, rejects).await;
    assert_eq!(turn.unwrap().text(), "Hello");
    assert_eq!(body["messages"][1]["content"][1]["content"]["tool_references"], json!([found("look")]), "{body:#}");
}

#[tokio::test]
async fn definitions_are_deferred_only_where_the_model_can_find_them() {
    let server = Server::start().await;
    let mut tool = ToolDescriptor::new("look", json!({"type": "object"}));
    tool.provider_options = ProviderOptions::new().deferred();
    let search_of = |other: bool| {
        let [own, foreign] = [
            haft_wire::catalogue::anthropic::tool_search_regex().define().unwrap(),
            haft_wire::catalogue::openai::tool_search().define().unwrap(),
        ];
        (if other { foreign } else { own }).descriptor().as_ref().clone()
    };
    let rejects = |body: &Value| {
        let tools = body["tools"].as_array().unwrap();
        tools
            .iter()
            .all(|tool| tool["defer_loading"] == true)
            .then_some("All tools have defer_loading set. At least one tool must be non-deferred.")
    };
    // The conversation moves from one provider to the other, with the search of the first.
    for (provider, name, is_openai) in
        [(Provider::Anthropic, "claude-sonnet-4-5", true), (Provider::Responses, "gpt-5.4", false)]
    {
        let model = provider.whole(&server);
        let request = named(name).tools(&[tool.clone(), search_of(is_openai)]);
        let (body, turn) = judged(&*model, (&server, provider), &request, rejects).await;
        assert_eq!(turn.unwrap().text(), "Hello", "{name}");
        assert_eq!(
            (body["tools"].as_array().unwrap().len(), body["tools"][0].get("defer_loading")),
            (1, None),
            "{name}"
        );
        let request = named(name).tools(&[tool.clone(), search_of(!is_openai)]);
        let (body, turn) = judged(&*model, (&server, provider), &request, rejects).await;
        assert_eq!(
            (turn.unwrap().text().as_str(), &body["tools"][0]["defer_loading"]),
            ("Hello", &json!(true)),
            "{name}"
        );
    }
}

#[tokio::test]
async fn settings_that_exclude_each_other_are_not_sent_together() {
    let server = Server::start().await;
    let model = Provider::Anthropic.whole(&server);
    let both = |body: &Value| {
        (body.get("temperature").is_some() && body.get("top_p").is_some())
            .then_some("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
    };
    for name in ["claude-opus-4-1-20250805", "claude-sonnet-4-6", "us.anthropic.claude-haiku-4-5-v1:0"] {
        let request = named(name).temperature(0.5).top_p(0.9);
        let (body, turn) = judged(&*model, (&server, Provider::Anthropic), &request, both).await;
        assert_eq!((turn.unwrap().text().as_str(), &body["temperature"]), ("Hello", &json!(0.5)), "{name}");
    }
}

#[tokio::test]
async fn sequences_and_limits_that_openai_rejects_are_left_off_or_raised() {
    let server = Server::start().await;
    let stopped =
        |body: &Value| body.get("stop").map(|_| "Unsupported parameter: 'stop' is not supported with this model.");
    for (name, is_sent) in [("o3", false), ("gpt-5-mini", false), ("openai/gpt-5.4", false), ("gpt-4.1", true)] {
        let model = Provider::Chat.whole(&server);
        let rejects = |body: &Value| stopped(body).filter(|_| !is_sent);
        let (body, turn) = judged(&*model, (&server, Provider::Chat), &named(name).stop("END"), rejects).await;
        assert_eq!((turn.unwrap().text().as_str(), body.get("stop").is_some()), ("Hello", is_sent), "{name}");
    }
    let few = |body: &Value| {
        body["max_output_tokens"].as_u64().filter(|tokens| *tokens < 16).map(
            |_| "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 5 instead.",
        )
    };
    let model = Provider::Responses.whole(&server);
    let (body, turn) =
        judged(&*model, (&server, Provider::Responses), &named("gpt-5.4").max_output_tokens(5), few).await;
    assert_eq!((turn.unwrap().text().as_str(), &body["max_output_tokens"]), ("Hello", &json!(16)));
}

#[tokio::test]
async fn deepseek_gets_the_reasoning_and_the_instruction_that_it_demands() {
    let server = Server::start().await;
    let model = OpenAi::compatible("deepseek", server.url("")).http_client(client()).whole();
    let rejects = |body: &Value| {
        let messages = body["messages"].as_array().unwrap();
        let is_silent =
            |message: &Value| message.get("tool_calls").is_some() && message.get("reasoning_content").is_none();
        if messages.iter().any(is_silent) {
            return Some("The `reasoning_content` in the thinking mode must be passed back to the API.");
        }
        let says_json = messages.iter().any(|message| message["content"].to_string().to_lowercase().contains("json"));
        (body["response_format"]["type"] == "json_object" && !says_json).then_some(
            "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.",
        )
    };
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let mut request = named("deepseek-v4-pro").output_format(haft_core::OutputFormat::new("place", schema));
    // A turn that is over, and one that another provider's model has begun.
    let data = json!({"member": "reasoning_content"});
    let thought = Reasoning::text("hm").signed("deepseek", "").provider_data("deepseek", data);
    request.history.push(thought.into());
    for id in ["c1", "c2"] {
        request.history.extend([ToolCall::new(id, "look", "{}").into(), ToolCallOutput::new(id, "dark").into()]);
        request.history.extend([Item::assistant("Dark."), Item::user("go on")]);
    }
    let (body, turn) = judged(&model, (&server, Provider::Chat), &request, rejects).await;
    assert_eq!(turn.unwrap().text(), "Hello");
    let sent: Vec<_> =
        body["messages"].as_array().unwrap().iter().filter_map(|one| one.get("reasoning_content")).collect();
    assert_eq!(sent, [&json!("hm"), &json!("")], "{body:#}");
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_continued() {
    let ends_with_model = |message: &'static str| {
        move |body: &Value| {
            let last = body["messages"].as_array().unwrap().last().unwrap();
            (last["role"] == "assistant").then_some(message)
        }
    };
    let claude =
        "This model does not support assistant message prefill. The conversation must end with a user message.";
    let mistral = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant";
    let cut_claude = json!({"id": "m", "type": "message", "role": "assistant", "model": "claude",
        "content": [{"type": "text", "text": "Hel"}], "stop_reason": "max_tokens",
        "usage": {"input_tokens": 1, "output_tokens": 1}});
    let cut_chat = json!({"choices": [{"message": {"content": "Hel"}, "finish_reason": "length"}]});
    let server = Server::start().await;
    let anthropic = || Anthropic::new(Secret::new(KEY)).base_url(server.url("")).http_client(client()).whole();
    let compatible = |name: &'static str| OpenAi::compatible(name, server.url("")).http_client(client()).whole();
    // A server that lets its models continue their own messages gets no message of the user.
    for (model, name, cut, message) in [
        (Box::new(anthropic()) as Box<dyn LanguageModel>, "claude-opus-4-8", &cut_claude, Some(claude)),
        (Box::new(compatible("mistral")), "mistral-large-latest", &cut_chat, Some(mistral)),
        (Box::new(anthropic()), "claude-opus-4-5", &cut_claude, None),
        (Box::new(compatible("vllm")), "qwen3", &cut_chat, None),
    ] {
        let provider = if name.starts_with("claude") { Provider::Anthropic } else { Provider::Chat };
        let agent = TurnLoop::new(model, Toolkit::new());
        let reply = response(200, JSON, &cut.to_string());
        let (outcome, _connection) = join!(agent.start(named(name)).finish(), answer(&server, &reply));
        assert!(matches!(outcome.end, LoopEnd::Truncated { .. }), "{name}: {:?}", outcome.end);
        let rejects = |body: &Value| message.and_then(|message| ends_with_model(message)(body));
        let (outcome, (body, _connection)) =
            join!(agent.start(outcome.state).finish(), served((&server, provider), rejects));
        assert_eq!(outcome.end, LoopEnd::Stopped, "{name}");
        let messages = body["messages"].as_array().unwrap();
        assert_eq!(messages.len(), if message.is_some() { 3 } else { 2 }, "{name}: {body:#}");
    }
}
