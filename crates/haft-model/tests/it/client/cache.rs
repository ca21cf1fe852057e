//! Prompt caching: one switch, placed as each provider asks for it.

use haft_core::{CacheControl, ProviderOptions, ToolDescriptor};
use haft_wire::AnthropicMessages;
use serde_json::json;

use super::*;

fn tool(name: &str) -> ToolDescriptor {
    ToolDescriptor::new(name, json!({"type": "object", "properties": {}, "additionalProperties": false}))
}

/// The body that a client sends.
async fn sent(model: &dyn LanguageModel, (server, provider): (&Server, Provider), request: &TurnRequest) -> Value {
    let reply = response(200, JSON, provider.body());
    let (turn, (sent, _connection)) = join!(model.stream_turn(request).into_turn(), answer(server, &reply));
    turn.unwrap();
    SentText(sent).body()
}

/// The pointers to the marks of a body.
fn marks(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if key == "cache_control" {
                    found.push(at.to_owned());
                } else {
                    marks(member, &format!("{at}/{key}"), found);
                }
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| marks(item, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

fn marked(body: &Value) -> Vec<String> {
    let mut found = Vec::new();
    marks(body, "", &mut found);
    found.sort();
    found
}

#[tokio::test]
async fn anthropic_is_sent_marks_at_the_end_of_tools_system_and_messages() {
    let server = Server::start().await;
    let to = (&server, Provider::Anthropic);
    let plain = Anthropic::new(Secret::new(KEY)).base_url(server.url("")).http_client(client()).whole();
    let model = plain.clone().cache_prompt();
    let mut deferred = tool("deferred");
    deferred.provider_options = ProviderOptions::new().deferred();
    let request = TurnRequest::new("claude-opus-4-8", vec![Item::user("a"), Item::assistant("b"), Item::user("c")]);
    let request = request.instructions("Be brief.").tools(&[tool("first"), tool("last"), deferred]);
    assert_eq!(marked(&sent(&plain, to, &request).await), [""; 0]);
    let body = sent(&model, to, &request).await;
    assert_eq!(marked(&body), ["/messages/2/content/0", "/system/0", "/tools/1"]);
    assert_eq!(body["system"][0]["cache_control"], json!({"type": "ephemeral"}));
    // A wire that is set later caches too.
    let later = model.clone().wire(AnthropicMessages::new());
    assert_eq!(marked(&sent(&later, to, &request).await).len(), 3);
    let bare = TurnRequest::new("claude-opus-4-8", vec![Item::user("a")]);
    assert_eq!(marked(&sent(&model, to, &bare).await), ["/messages/0/content/0"]);

    // The application's own mark of the whole request is placed by the API.
    let own = request.clone().provider_options("anthropic", json!({"cache_control": {"type": "ephemeral"}}));
    assert_eq!(marked(&sent(&model, to, &own).await), [""]);
}

#[tokio::test]
async fn marks_that_are_set_by_hand_stay_and_count() {
    let server = Server::start().await;
    let to = (&server, Provider::Anthropic);
    let model = Anthropic::new(Secret::new(KEY)).base_url(server.url("")).http_client(client()).whole().cache_prompt();
    let by_hand = |name: &str, ttl: Option<&str>| {
        let mut tool = tool(name);
        let control = ttl.map_or_else(CacheControl::new, |ttl| CacheControl::new().ttl(ttl));
        tool.provider_options = ProviderOptions::new().cache_control(control);
        tool
    };
    let request = TurnRequest::new("claude-opus-4-8", vec![Item::user("a")]).instructions("Be brief.");
    let one = request.clone().tools(&[by_hand("a", None), tool("b")]);
    assert_eq!(marked(&sent(&model, to, &one).await), ["/messages/0/content/0", "/system/0", "/tools/0"]);
    let many = request.clone().tools(&["a", "b", "c", "d"].map(|name| by_hand(name, None)));
    assert_eq!(marked(&sent(&model, to, &many).await).len(), 4);
    let three = request.clone().tools(&["a", "b", "c"].map(|name| by_hand(name, None)));
    assert_eq!(marked(&sent(&model, to, &three).await).first().unwrap(), "/messages/0/content/0");
    // A mark for an hour must not follow one for five minutes.
    let long = request.tools(&[tool("a"), by_hand("b", Some("1h"))]);
    assert_eq!(marked(&sent(&model, to, &long).await), ["/messages/0/content/0", "/tools/1"]);
}

#[tokio::test]
async fn openai_is_sent_a_key_of_the_beginning_of_a_prompt() {
    let server = Server::start().await;
    for provider in [Provider::Responses, Provider::Chat] {
        let model = OpenAi::new(Secret::new(KEY)).base_url(server.url("")).http_client(client()).whole().cache_prompt();
        let model = if provider == Provider::Chat { model.chat() } else { model };
        let request = TurnRequest::new("gpt-4.1", vec![Item::user("a")]).instructions("Be brief.").tools(&[tool("t")]);
        let key = async |request: &TurnRequest| {
            sent(&model, (&server, provider), request).await["prompt_cache_key"].as_str().unwrap().to_owned()
        };
        let first = key(&request).await;
        assert!(first.starts_with("haft-") && first.len() <= 64, "{first}");
        let mut next = request.clone();
        next.history.extend([Item::assistant("b"), Item::user("c")]);
        assert_eq!(key(&next).await, first, "{provider:?}");
        assert_ne!(key(&request.clone().instructions("Be long.")).await, first);
        assert_ne!(key(&request.clone().tools(&[tool("u")])).await, first);
        assert_eq!(key(&request.provider_options("openai", json!({"prompt_cache_key": "mine"}))).await, "mine");
    }
}

#[tokio::test]
async fn other_servers_are_asked_only_if_they_pass_marks_on() {
    let server = Server::start().await;
    for (provider, model, is_marked) in [
        ("openrouter", "anthropic/claude-opus-4.7", true),
        ("openrouter", "openai/gpt-4.1", false),
        ("ollama", "llama3.3", false),
    ] {
        let client = OpenAi::compatible(provider, server.url("")).http_client(client()).whole().cache_prompt();
        let body = sent(&client, (&server, Provider::Chat), &TurnRequest::new(model, vec![Item::user("a")])).await;
        assert_eq!((body.get("cache_control").is_some(), body.get("prompt_cache_key")), (is_marked, None), "{model}");
    }
    let gemini = Gemini::new(Secret::new(KEY)).base_url(server.url("")).http_client(client()).whole();
    let request = TurnRequest::new("gemini-3.8-flash", vec![Item::user("a")]);
    let plain = sent(&gemini, (&server, Provider::Gemini), &request).await;
    assert_eq!(sent(&gemini.cache_prompt(), (&server, Provider::Gemini), &request).await, plain);
}
