//! The server that the official conformance suite judges: ordinary tools, and a plain handler of `rmcp` beside them for prompts,
//! resources and completion. `cargo xtask conformance server` runs it. It prints its address.

#![allow(clippy::print_stdout, reason = "the suite is told the address")]
#![allow(deprecated, reason = "the suite judges the old era as well")]

use std::error::Error;
use std::time::Duration;

use haft_core::{ContentPart, MediaData, ResourceContents, ResourcePart, ToolOutput};
use haft_executor::{Cx, DefinitionError, ForwardCx, HandlerError, SharedToolkit, Tool};
use haft_mcp::serve::rmcp::model::{
    CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, InputRequiredResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use haft_mcp::serve::rmcp::service::{RequestContext, SubscriptionContext};
use haft_mcp::serve::rmcp::{RoleServer, ServerHandler};
use haft_mcp::serve::{AskClientError, CallerAccess, LogLevel, ServedClient, serve};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

/// A picture of one red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const PAUSE: Duration = Duration::from_millis(50);

type Handled<T> = Result<T, HandlerError<String>>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let tools = SharedToolkit::default();
    let (prompts_changed, prompts) = watch::channel(());
    for tool in contents()?.into_iter().chain(running()?).chain(asking()?).chain(schemas()?) {
        tools.add(tool)?;
    }
    let changing = tools.clone();
    tools.add(Tool::new("test_trigger_tool_change").describe("Adds a tool.").try_handler_opaque(
        move |(), _cx| {
            let changing = changing.clone();
            async move {
                let added = Tool::new("test_added").describe("Was added.").handler(|(), _cx| async { "added" })?;
                changing.remove("test_added");
                changing.add(added)?;
                Ok::<_, Box<dyn Error + Send + Sync>>("changed")
            }
        },
    )?)?;
    let trigger =
        Tool::new("test_trigger_prompt_change").describe("Changes the prompts.").handler(move |(), _cx| {
            prompts_changed.send_replace(());
            async { "changed" }
        })?;
    tools.add(trigger)?;
    let server = serve(tools).named("haft-conformance", "1").anonymous(CallerAccess::everyone());
    let service = server.beside(Beside { prompts }).http()?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://localhost:{}/mcp", listener.local_addr()?.port());
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}

fn image() -> ContentPart {
    ContentPart::image("image/png", MediaData::Base64(PNG.to_owned()))
}

fn resource(uri: &str, media_type: &str, text: &str) -> ContentPart {
    let mut part = ResourcePart::new(uri, ResourceContents::Text(text.to_owned()));
    part.media_type = Some(media_type.to_owned());
    ContentPart::Resource(part)
}

/// Tools that return content.
fn contents() -> Result<Vec<Tool>, DefinitionError> {
    let audio = || ContentPart::audio("audio/wav", MediaData::Base64(WAV.to_owned()));
    let embedded = || resource("test://embedded-resource", "text/plain", "This is an embedded resource content.");
    let mixed = resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#);
    let show = |name: &str, parts: Vec<ContentPart>| {
        Tool::new(name).describe("Shows content.").handler(move |(), _cx| {
            let output = ToolOutput::content_only(parts.clone());
            async move { output }
        })
    };
    Ok(vec![
        show("test_simple_text", vec![ContentPart::text("This is a simple text response for testing.")])?,
        show("test_image_content", vec![image()])?,
        show("test_audio_content", vec![audio()])?,
        show("test_embedded_resource", vec![embedded()])?,
        show("test_multiple_content_types", vec![ContentPart::text("Multiple content types test:"), image(), mixed])?,
        Tool::new("test_error_handling")
            .describe("Fails.")
            .try_handler(|(), _cx| async { Err::<(), _>("This tool intentionally returns an error for testing") })?,
    ])
}

/// Tools that say something while they run.
fn running() -> Result<Vec<Tool>, DefinitionError> {
    let logging = |name: &str| {
        Tool::new(name).describe("Logs.").try_handler_mixed(|(), cx: Cx| async move {
            let client = cx.service::<ServedClient>()?;
            client.log(LogLevel::Info, "Tool execution started").await;
            sleep(PAUSE).await;
            client.log(LogLevel::Info, "Tool processing data").await;
            sleep(PAUSE).await;
            client.log(LogLevel::Info, "Tool execution completed").await;
            Handled::Ok("logged")
        })
    };
    let progress = Tool::new("test_tool_with_progress").describe("Makes progress.");
    let progress = progress.try_handler_mixed(|(), cx: Cx| async move {
        for done in [0.0, 50.0, 100.0] {
            cx.progress(done, 100.0, "").await?;
            sleep(PAUSE).await;
        }
        Handled::Ok("done")
    });
    let reconnection = Tool::new("test_reconnection").describe("Takes a moment.");
    let reconnection = reconnection.handler(|(), _cx| async {
        sleep(PAUSE).await;
        "done"
    });
    Ok(vec![logging("test_tool_with_logging")?, logging("test_logging_tool")?, progress?, reconnection?])
}

fn form(message: &str, properties: &Value) -> Value {
    let required: Vec<_> = properties.as_object().into_iter().flat_map(|fields| fields.keys()).collect();
    let schema = json!({"type": "object", "properties": properties, "required": required});
    json!({"mode": "form", "message": message, "requestedSchema": schema})
}

fn prompt(text: &str, most: u32) -> Value {
    json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}], "maxTokens": most})
}

/// A tool that asks the client and shows what it answers.
fn asks<F, Fut>(name: &str, ask: F) -> Result<Tool, DefinitionError>
where
    F: Fn(ServedClient) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, AskClientError>> + Send + 'static,
{
    Tool::new(name).describe("Asks.").try_handler_mixed(move |(), cx: Cx| {
        let asking = cx.service::<ServedClient>().cloned().map(&ask);
        async move { Handled::Ok(asking?.await?) }
    })
}

/// Asks for one field and shows the answer.
fn asks_field(name: &str, key: &'static str, message: &'static str, fields: Value) -> Result<Tool, DefinitionError> {
    asks(name, move |client| {
        let params = form(message, &fields);
        async move { Ok(format!("state-ok {}", client.keyed(key).elicit(params).await?)) }
    })
}

/// Tools that ask the client.
fn asking() -> Result<Vec<Tool>, DefinitionError> {
    let name = || json!({"name": {"type": "string"}});
    let ok = || json!({"ok": {"type": "boolean"}});
    let defaults = json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true},
    });
    let titled = |one: &str, two: &str| json!([{"const": "value1", "title": one}, {"const": "value2", "title": two}]);
    let options = json!(["option1", "option2", "option3"]);
    let enums = json!({
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled("First Option", "Second Option")},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled("First Choice", "Second Choice")}},
    });
    let person = json!({"username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"}});
    let elicits = Tool::new("test_elicitation").describe("Asks the user.").params_json(text("message"));
    let samples = Tool::new("test_sampling").describe("Asks the model.").params_json(text("prompt"));
    Ok(vec![
        elicits.try_handler_mixed(move |arguments: Value, cx: Cx| {
            let params = form(arguments["message"].as_str().unwrap_or_default(), &person);
            async move { Handled::Ok(format!("User response: {}", cx.service::<ServedClient>()?.elicit(params).await?)) }
        })?,
        samples.try_handler_mixed(|arguments: Value, cx: Cx| async move {
            let params = prompt(arguments["prompt"].as_str().unwrap_or_default(), 100);
            let answer = cx.service::<ServedClient>()?.sample(params).await?;
            Handled::Ok(format!("LLM response: {}", answer["content"]["text"]))
        })?,
        asks_field("test_elicitation_sep1034_defaults", "defaults", "Check the values", defaults)?,
        asks_field("test_elicitation_sep1330_enums", "choices", "Choose", enums)?,
        asks_field("test_input_required_result_elicitation", "user_name", "What is your name?", name())?,
        asks_field("test_streaming_elicitation", "user_name", "What is your name?", name())?,
        asks_field("test_input_required_result_request_state", "confirm", "Please confirm", ok())?,
        asks_field("test_input_required_result_tampered_state", "confirm", "Please confirm", ok())?,
        asks("test_input_required_result_sampling", |client| async move {
            let question = prompt("What is the capital of France?", 100);
            Ok(client.keyed("capital_question").sample(question).await?["content"]["text"].to_string())
        })?,
        asks("test_missing_capability", |client| async move { Ok(client.sample(prompt("Hi", 9)).await?.to_string()) })?,
        asks("test_input_required_result_list_roots", |client| async move {
            Ok(client.keyed("client_roots").roots().await?.to_string())
        })?,
        asks("test_input_required_result_multiple_inputs", move |client| {
            let who = form("What is your name?", &name());
            async move {
                let (one, two, three) = (client.keyed("user_name"), client.keyed("greeting"), client.keyed("client_roots"));
                let all = tokio::join!(one.elicit(who), two.sample(prompt("Generate a greeting", 50)), three.roots());
                Ok(format!("{} {} {}", all.0?, all.1?, all.2?))
            }
        })?,
        asks("test_input_required_result_multi_round", |client| async move {
            let step1 = form("Step 1: What is your name?", &json!({"name": {"type": "string"}}));
            let name = client.keyed("step1").elicit(step1).await?;
            let step2 = form("Step 2: What is your favorite color?", &json!({"color": {"type": "string"}}));
            Ok(format!("{name} {}", client.keyed("step2").elicit(step2).await?))
        })?,
        asks("test_input_required_result_capabilities", |client| async move {
            let form = form("Who?", &json!({"name": {"type": "string"}}));
            let (asked, sampled) = tokio::join!(client.elicit(form), client.sample(prompt("Who?", 9)));
            Ok(format!("{asked:?} {sampled:?}"))
        })?,
    ])
}

fn text(name: &str) -> Value {
    json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})
}

/// Tools whose definitions are judged.
fn schemas() -> Result<Vec<Tool>, DefinitionError> {
    let address = json!({"$anchor": "addressDef", "type": "object",
        "properties": {"street": {"type": "string"}, "city": {"type": "string"}}});
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": address},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    let region = json!({"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
    let echo = |name: &str, schema: Value| {
        let definition = json!({"name": name, "description": "Returns its arguments.", "inputSchema": schema});
        let answer = |_: Tool, call: haft_core::ToolCall, _: ForwardCx| async move {
            Ok(ToolOutput::content_only(vec![ContentPart::text(call.arguments)]))
        };
        Tool::from_mcp(&definition)?.with_forward(answer)
    };
    Ok(vec![echo("json_schema_2020_12_tool", schema)?, echo("test_header", region)?])
}

/// The application's own handler.
struct Beside {
    prompts: watch::Receiver<()>,
}

/// Reads a result of the protocol.
fn read<T: serde::de::DeserializeOwned>(mut value: Value) -> Result<T, ErrorData> {
    value["resultType"] = "complete".into();
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn message(content: &Value) -> Value {
    json!({"role": "user", "content": content})
}

impl ServerHandler for Beside {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_completions().enable_prompts().enable_prompts_list_changed();
        ServerConfig::new(capabilities.enable_resources().enable_resources_subscribe().build())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let mut prompts = self.prompts.clone();
        while prompts.changed().await.is_ok() {
            drop(subscription.sink().notify_prompt_list_changed().await);
        }
        Ok(())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["paris", "park", "party"].map(str::to_owned).to_vec();
        let completion = CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(completion))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let argument = |name: &str| json!({"name": name, "required": true});
        read(json!({"prompts": [
            {"name": "test_simple_prompt", "description": "Is simple."},
            {"name": "test_prompt_with_arguments", "description": "Has arguments.", "arguments": [argument("arg1"), argument("arg2")]},
            {"name": "test_prompt_with_embedded_resource", "description": "Has arguments.", "arguments": [argument("resourceUri")]},
            {"name": "test_prompt_with_image", "description": "Has a picture."},
            {"name": "test_input_required_result_prompt", "description": "Asks."},
        ]}))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let argument = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        let text = |text: &str| message(&json!({"type": "text", "text": text}));
        let messages = match params.name.as_str() {
            "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
            "test_prompt_with_arguments" => {
                vec![text(&format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2")))]
            }
            "test_prompt_with_embedded_resource" => {
                let content = "Embedded resource content for testing.";
                let resource = json!({"uri": argument("resourceUri"), "mimeType": "text/plain", "text": content});
                let resource = json!({"type": "resource", "resource": resource});
                vec![message(&resource), text("Please process the embedded resource above.")]
            }
            "test_prompt_with_image" => {
                let image = json!({"type": "image", "data": PNG, "mimeType": "image/png"});
                vec![message(&image), text("Please analyze the image above.")]
            }
            "test_input_required_result_prompt" if params.input_responses.is_none() => {
                let fields = json!({"context": {"type": "string"}});
                let params = form("What context should the prompt use?", &fields);
                let request = json!({"method": "elicitation/create", "params": params});
                let request = serde_json::from_value(request).map_err(|_| ErrorData::internal_error("form", None))?;
                let required = InputRequiredResult::from_input_requests([("user_context".to_owned(), request)].into());
                return Ok(required.into());
            }
            "test_input_required_result_prompt" => vec![text("With context.")],
            _ => return Err(ErrorData::invalid_params("unknown prompt", None)),
        };
        Ok(read::<GetPromptResult>(json!({"messages": messages}))?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        read(json!({"resources": [
            {"uri": "test://static-text", "name": "text", "description": "A text.", "mimeType": "text/plain"},
            {"uri": "test://static-binary", "name": "picture", "description": "A picture.", "mimeType": "image/png"},
            {"uri": "test://watched-resource", "name": "watched", "description": "Is watched.", "mimeType": "text/plain"},
        ]}))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        read(json!({"resourceTemplates": [
            {"uriTemplate": "test://template/{id}/data", "name": "data", "mimeType": "application/json"},
        ]}))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri.as_str();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, id) {
            ("test://static-text" | "test://watched-resource", _) => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource."})
            }
            ("test://static-binary", _) => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
            (_, Some(id)) => {
                let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }
            _ => return Err(ErrorData::resource_not_found("Resource not found", Some(json!({"uri": uri})))),
        };
        Ok(read::<ReadResourceResult>(json!({"contents": [contents]}))?.into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }
}
