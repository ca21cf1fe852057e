//! `haft serve`, driven by the official Python client over standard streams and HTTP.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SCRIPT: &str = r#"
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

async def use(streams):
    async with ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        result = await session.call_tool("calculate", {"expression": "6*7"})
        wrong = await session.call_tool("calculate", {"expression": 7})
        print(tools, result.structured_content["result"], result.is_error, wrong.is_error)

async def main():
    if sys.argv[1] == "stdio":
        parameters = StdioServerParameters(command=sys.argv[2], args=["--workspace", sys.argv[3], "serve"])
        async with stdio_client(parameters) as streams:
            await use(streams)
    else:
        headers = {"Authorization": "Bearer t-ana"}
        async with create_mcp_http_client(headers=headers) as http:
            async with streamable_http_client(sys.argv[2], http_client=http) as streams:
                await use(streams)

asyncio.run(main())
"#;

const FILE: &str = "[workspace]\nstandard = { only = ['calculate', 'hash'] }\n[permissions]\nallow = ['*']\n\
    sets.sums = { allow = ['calculate'] }\n[callers.ana]\ntoken = 'ana'\npermissions = 'sums'\n[secrets]\nana.env = 'ANA_TOKEN'\n";

fn python() -> PathBuf {
    let parts = match std::env::var_os("HAFT_PARTS") {
        Some(parts) => parts.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/parts"),
    };
    let python = parts.join("fastmcp/bin/python");
    assert!(python.exists(), "run `cargo xtask setup`: {}", python.display());
    python
}

fn client(arguments: &[&str]) -> String {
    let output = Command::new(python()).args(["-c", SCRIPT]).args(arguments).env("NO_PROXY", "*").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_python_client_lists_and_calls() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("haft.toml"), FILE).unwrap();
    let haft = env!("CARGO_BIN_EXE_haft");
    let listed = client(&["stdio", haft, &folder.path().display().to_string()]);
    assert_eq!(listed, "['calculate', 'hash'] 42 False True\n");

    let command = |arguments: &[&str]| {
        let mut command = Command::new(haft);
        command.args(arguments).current_dir(folder.path()).env("HAFT_STATE_DIR", folder.path().join(".state"));
        command.env("ANA_TOKEN", "t-ana").stdin(Stdio::null()).stderr(Stdio::piped());
        command
    };
    assert!(command(&["trust", "--yes"]).output().unwrap().status.success());
    let mut server = command(&["serve", "--http", "0"]).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find(|line| line.contains("http://")).unwrap();
    let url =
        line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().trim_end_matches(',').to_owned();
    let listed = client(&["http", &url]);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(listed, "['calculate'] 42 False True\n");
}
