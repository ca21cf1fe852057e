//! The two sides of the comparison, as packages: each declares the same tools, lists them and answers one call.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;

use super::template::{CALL, Template};
use crate::workspace::Workspace;

/// The release of `rmcp` that is compared with.
const RMCP: &str = "=3.8.0";

/// One side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// This checkout, with its default features.
    Ours,
    /// The official SDK of the Model Context Protocol, as a server.
    Rmcp,
}

impl Side {
    /// Both, in the order they are measured.
    pub(super) const BOTH: [Self; 2] = [Self::Ours, Self::Rmcp];

    /// Returns its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Rmcp => "rmcp",
        }
    }

    /// Returns the folder of its package.
    pub(super) fn folder(self, workspace: &Workspace) -> PathBuf {
        workspace.root().join("target/weigh").join(self.name())
    }

    /// Writes its package with this number of tools.
    pub(super) fn write(self, workspace: &Workspace, tools: usize) -> anyhow::Result<()> {
        let folder = self.folder(workspace);
        fs::create_dir_all(folder.join("src")).with_context(|| format!("can't make {}", folder.display()))?;
        for (file, text) in [("Cargo.toml", self.manifest(workspace)), ("src/main.rs", self.program(tools))] {
            let path = folder.join(file);
            fs::write(&path, text).with_context(|| format!("can't write {}", path.display()))?;
        }
        Ok(())
    }

    fn manifest(self, workspace: &Workspace) -> String {
        let (name, needed) = match self {
            Self::Ours => {
                let path = workspace.root().join("crates/haft").to_string_lossy().into_owned();
                (
                    "weigh-ours",
                    format!(
                        "haft = {{ path = {path:?} }}\ntokio = {{ version = \"1\", features = [\"macros\", \"rt\"] }}"
                    ),
                )
            }
            Self::Rmcp => (
                "weigh-rmcp",
                format!(
                    "rmcp = {{ version = \"{RMCP}\", features = [\"server\", \"transport-async-rw\"] }}\n\
                     tokio = {{ version = \"1\", features = [\"io-util\", \"macros\", \"rt\"] }}"
                ),
            ),
        };
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [workspace]\n\n\
             [dependencies]\n{needed}\nschemars = \"1\"\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = \"1\"\n"
        )
    }

    fn program(self, tools: usize) -> String {
        let types: String =
            (0..tools).map(|number| Template::of(number).fill(Template::of(number).types, number)).collect();
        match self {
            Self::Ours => ours(tools, &types),
            Self::Rmcp => rmcp(tools, &types),
        }
    }
}

fn ours(tools: usize, types: &str) -> String {
    let mut functions = String::new();
    for number in 0..tools {
        let template = Template::of(number);
        let [about, result, body] =
            [template.about, template.result, template.body].map(|text| template.fill(text, number));
        let (name, fields) = (template.tool_name(number), template.declared(number));
        functions.push_str(&format!("\n/// {about}\n#[tool]\nasync fn {name}(\n{fields}) -> {result} {body}\n"));
    }
    let names: Vec<String> = (0..tools).map(|number| Template::of(number).type_name(number)).collect();
    let (names, (arguments, value)) = (names.join(", "), CALL);
    format!(
        "use haft::prelude::*;
use schemars::JsonSchema;
use serde::{{Deserialize, Serialize}};
{types}{functions}
#[tokio::main(flavor = \"current_thread\")]
async fn main() {{
    let kit = toolkit![{names}];
    let list = serde_json::to_value(kit.descriptors()).unwrap();
    assert_eq!(list.as_array().unwrap().len(), {tools});
    let result = kit.run_call(&ToolCall::new(\"c1\", \"search_0\", r#\"{arguments}\"#)).await;
    let value: serde_json::Value = serde_json::from_str(&result.to_model_text()).unwrap();
    assert_eq!(value, serde_json::from_str::<serde_json::Value>(r#\"{value}\"#).unwrap());
}}
"
    )
}

fn rmcp(tools: usize, types: &str) -> String {
    let (mut parameters, mut functions) = (String::new(), String::new());
    for number in 0..tools {
        let template = Template::of(number);
        let [about, result, body] =
            [template.about, template.result, template.body].map(|text| template.fill(text, number));
        let (name, ty) = (template.tool_name(number), template.type_name(number));
        let (fields, names) = (template.declared(number), template.names());
        parameters
            .push_str(&format!("\n#[derive(Debug, Serialize, Deserialize, JsonSchema)]\nstruct {ty} {{\n{fields}}}\n"));
        let (result, body) = match result.strip_prefix("Result<").and_then(|rest| rest.split_once(',')) {
            Some((success, failure)) => (
                format!("Result<Json<{success}>,{failure}"),
                format!("{{ let done: {result} = {body}; done.map(Json) }}"),
            ),
            None => (format!("Json<{result}>"), format!("{{ Json({body}) }}")),
        };
        functions.push_str(&format!(
            "\n/// {about}\n#[tool]\nasync fn {name}(&self, Parameters({ty} {{ {names} }}): Parameters<{ty}>) -> {result} {body}\n"
        ));
    }
    let (arguments, value) = CALL;
    format!(
        "use rmcp::handler::server::wrapper::{{Json, Parameters}};
use rmcp::{{ServerHandler, ServiceExt, tool, tool_handler, tool_router}};
use schemars::JsonSchema;
use serde::{{Deserialize, Serialize}};
use serde_json::Value;
use tokio::io::{{AsyncBufReadExt, AsyncWriteExt, BufReader}};
{types}{parameters}
#[derive(Clone)]
struct Server;

#[tool_router]
impl Server {{{functions}}}

#[tool_handler]
impl ServerHandler for Server {{}}

#[tokio::main(flavor = \"current_thread\")]
async fn main() {{
    let (here, there) = tokio::io::duplex(1 << 16);
    let server = tokio::spawn(async move {{ Server.serve(there).await.unwrap().waiting().await }});
    let (reader, mut writer) = tokio::io::split(here);
    let mut lines = BufReader::new(reader).lines();
    let mut answers = Vec::new();
    for (line, is_answered) in [
        (r#\"{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{{}},\"clientInfo\":{{\"name\":\"weigh\",\"version\":\"0\"}}}}}}\"#, true),
        (r#\"{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\"#, false),
        (r#\"{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}}\"#, true),
        (r#\"{{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{{\"name\":\"search_0\",\"arguments\":{arguments}}}}}\"#, true),
    ] {{
        writer.write_all(format!(\"{{line}}\\n\").as_bytes()).await.unwrap();
        if is_answered {{
            let answer = lines.next_line().await.unwrap().unwrap();
            answers.push(serde_json::from_str::<Value>(&answer).unwrap());
        }}
    }}
    assert_eq!(answers[1][\"result\"][\"tools\"].as_array().unwrap().len(), {tools});
    let value = &answers[2][\"result\"][\"structuredContent\"];
    assert_eq!(*value, serde_json::from_str::<Value>(r#\"{value}\"#).unwrap());
    server.abort();
}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::Side;
    use crate::workspace::Workspace;

    #[test]
    fn both_sides_declare_every_tool_and_the_same_types() {
        let [ours, rmcp] = Side::BOTH.map(|side| side.program(6));
        for name in
            ["async fn search_0(", "async fn create_1(", "async fn update_2(", "async fn plan_3(", "async fn create_5("]
        {
            assert!(ours.contains(name) && rmcp.contains(name), "{name}");
        }
        assert!(ours.contains("toolkit![Search0, Create1, Update2, Plan3, Search4, Create5]"));
        assert!(rmcp.contains("-> Result<Json<Create1Ticket>, String>") && rmcp.contains("-> Json<Search0Page>"));
        for ty in ["struct Search4Years {", "enum Update2Change {"] {
            assert!(ours.contains(ty) && rmcp.contains(ty), "{ty}");
        }
    }

    #[test]
    fn each_side_is_a_separate_workspace() {
        for side in Side::BOTH {
            let manifest = side.manifest(&Workspace::find());
            assert!(manifest.contains("\n[workspace]\n"), "{manifest}");
        }
    }
}
