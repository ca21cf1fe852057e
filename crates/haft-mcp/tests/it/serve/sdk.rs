//! The client of the SDK and our own, over lines and over HTTP.

use haft_core::{ApprovalRequest, Question, ToolCall};
use haft_executor::{Cx, Dispatch, RunOptions, Tool, ToolSource, Toolkit};
use haft_http::{AddressGuard, HttpClient};
use haft_mcp::serve::{CallerAccess, Serve, serve};
use haft_mcp::{Era, McpServer};
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RoleClient};
use serde_json::json;

fn kit() -> Toolkit {
    let add = Tool::new("math/add").handler(|(a, b): (i64, i64), _cx| async move { a + b }).unwrap();
    let ask = Tool::new("ask").try_handler_mixed(|(), cx: Cx| async move {
        let answer = cx.ask(Question::input::<u8>("How many?")).await?;
        Ok::<_, haft_executor::HandlerError<String>>(answer.decode::<u8>()?)
    });
    Toolkit::from_iter([add, ask.unwrap()])
}

/// A client whose user answers every form with three.
struct Three;

impl ClientHandler for Three {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.capabilities = ClientCapabilities::builder().enable_elicitation().build();
        info
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, rmcp::ErrorData> {
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer": 3})))
    }
}

#[tokio::test]
async fn the_client_of_the_sdk_lists_calls_and_answers() {
    for mode in [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ] {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let served = tokio::spawn(serve(kit()).over(reader, writer));
        let client = Three.serve_with_lifecycle(ours, mode).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["math--add", "ask"]);
        let result = client.call_tool(CallToolRequestParams::new("ask")).await.unwrap();
        assert_eq!(result.content[0].as_text().unwrap().text, "3");
        client.cancel().await.unwrap();
        served.await.unwrap().unwrap();
    }
}

/// Serves over HTTP and returns how our client connects.
async fn over_http(server: Serve, era: Era) -> McpServer {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let router = axum::Router::new().route_service("/mcp", server.http().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let guard = AddressGuard::new().allow_host(&host).unwrap();
    let client = HttpClient::builder().no_proxy().guarded(guard).unwrap();
    McpServer::http(format!("http://{host}/mcp")).named("ours").era(era).http_client(client)
}

#[tokio::test]
async fn our_own_client_lists_calls_and_answers_over_http() {
    for era in [Era::Legacy, Era::Modern, Era::Auto] {
        let server = serve(kit()).anonymous(CallerAccess::everyone());
        let client = over_http(server, era).await.connect().await.unwrap();
        let snapshot = client.snapshot();
        assert_eq!(snapshot.toolkit().names().collect::<Vec<_>>(), ["math--add", "ask"], "{era:?}");
        let schema = snapshot.toolkit().get("math--add").unwrap().descriptor();
        let property = schema.input_schema.as_json()["properties"].as_object().unwrap().keys().next().unwrap().clone();
        let call = ToolCall::new("c1", "math--add", json!({property: [1, 2]}).to_string());
        let results = client.run_calls(vec![call.into()], RunOptions::new()).collect_results().await;
        assert_eq!(results[0].to_model_text(), "3", "{era:?}");
        let approver = |request: ApprovalRequest, _cx: Cx| async move { request.answer(json!({"answer": 7})) };
        let options = RunOptions::new().approvals(approver);
        let results = client.run_calls(vec![ToolCall::new("c2", "ask", "{}").into()], options).collect_results().await;
        assert_eq!(results[0].to_model_text(), "7", "{era:?}");
        client.close().await;
    }
}
