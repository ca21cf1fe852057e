//! A workspace whose tools use planted secrets in every way, against a server and commands that repeat them.

use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

/// A secret that nothing has to escape.
pub(super) const PLAIN: &str = "planted-5ecret-plain";
/// A secret that URLs, JSON, HTML and base64 contain in another form.
pub(super) const ODD: &str = r#"pl"anted/5ecret+ö"#;
/// A secret that no header can contain.
const LINES: &str = "planted-5ecret-one\nplanted-5ecret-two";
/// A secret that no variable can contain.
const NUL: &str = "planted-5ecret-\0-nul";

/// The places for a secret in a request: the tools' name, and the setting.
fn places(origin: &str, secret: &str) -> Vec<(&'static str, String)> {
    let oauth = |style: &str| {
        format!(
            "{{ oauth2 = {{ token-url = '{origin}/{secret}/token', client-id = 'client', client-secret = '{secret}', \
             style = '{style}' }} }}"
        )
    };
    vec![
        ("bearer", format!("{{ bearer = '{secret}' }}")),
        ("basic", format!("{{ basic = {{ user = 'ada', password = '{secret}' }} }}")),
        ("pair", format!("{{ basic = '{secret}-pair' }}")),
        ("header", format!("{{ header = {{ name = 'x-key', secret = '{secret}', prefix = 'Key ' }} }}")),
        ("query", format!("{{ query = {{ name = 'key', secret = '{secret}' }} }}")),
        ("cookie", format!("{{ cookie = {{ name = 'key', secret = '{secret}' }} }}")),
        ("oauth", oauth("basic")),
        ("oauthbody", oauth("body")),
    ]
}

/// The ways in which the server answers.
const BEHAVIOURS: [&str; 14] = [
    "status",
    "page",
    "problem",
    "rule",
    "cutstatus",
    "broken",
    "cut",
    "wrong",
    "ok",
    "image",
    "headers",
    "redirect",
    "private",
    "host",
];

/// The commands, as a shell runs them. The first ones fail.
const COMMANDS: [(&str, &str, &str); 8] = [
    ("model", "stderr = 'model'", "env >&2; printf %s \"$ODD\" | base64 >&2; exit 3"),
    ("operator", "", "env >&2; printf %s \"$ODD\" | sed 's/\"/\\\\\\\\\"/' >&2; exit 3"),
    ("json", "stdout = 'json'", "env >&2; printf '[%s' \"$ODD\""),
    ("lines", "stdout = 'json-lines'", "env >&2; printf '\"%s\"\\n' \"$ODD\" \"$PLAIN\""),
    ("wrong", "output = { const = 1 }", "printf %s \"$ODD\""),
    ("echo", "", "env; printf %s \"ada:$ODD\" | base64"),
    (
        "progress",
        "stdout = 'json-lines'",
        r#"printf '{{"progress": {{"at": "%s"}} }}\n["%s"]\n{{"result": {{"%s": "%s"}} }}\n' "$PLAIN" "$PLAIN" "$PLAIN" "$PLAIN""#,
    ),
    ("logged", "", "env >&2; printf %s \"ada:$ODD\" | base64 >&2; printf done"),
];

/// A folder with a workspace.
pub(super) struct Planted {
    folder: TempDir,
    /// The names of the tools that send the secrets `odd` and `plain`, without those secrets and the namespace.
    pub(super) forms: Vec<&'static str>,
}

impl Planted {
    pub(super) fn new(origin: &str) -> Self {
        let mut text = format!(
            "[workspace]\nstandard = false\n[http]\nallow-hosts = ['{}']\n[secrets]\n",
            origin.trim_start_matches("http://")
        );
        let folder = tempfile::tempdir().unwrap();
        let mut planted = Self { folder, forms: Vec::new() };
        let large = PLAIN.repeat(4000);
        let pairs = [format!("ada:{PLAIN}"), format!("ada:{ODD}")];
        for (name, secret) in [
            ("plain", PLAIN),
            ("odd", ODD),
            ("plain-pair", &pairs[0]),
            ("odd-pair", &pairs[1]),
            ("lines", LINES),
            ("nul", NUL),
            ("large", &large),
        ] {
            planted.write(&format!("keys/{name}"), secret);
            text.push_str(&format!("{name} = {{ file = 'keys/{name}' }}\n"));
        }
        std::fs::write(planted.path("keys/bytes"), b"planted-5ecret-\xff").unwrap();
        text.push_str("bytes = { file = 'keys/bytes' }\nabsent = { file = 'keys/absent' }\n");
        text.push_str("[[approval]]\nask = 'web/*_odd_*'\n[[approval]]\nask = 'shell/*'\n");
        text.push_str(&planted.web(origin));
        text.push_str(&shell());
        planted.write("haft.toml", &text);
        planted.write("api.json", &document(origin));
        planted
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn write(&self, name: &str, content: &str) {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), content).unwrap();
    }

    fn web(&mut self, origin: &str) -> String {
        let mut text = String::new();
        let mut tool = |name: &str, path: &str, auth: &str, more: &str| {
            text.push_str(&format!("[toolbox.web.tool.{name}]\nkind = 'http'\nurl = '{origin}/{path}'\n"));
            text.push_str(&format!("auth = {auth}\n{more}\n"));
        };
        for secret in ["odd", "plain"] {
            for (form, auth) in places(origin, secret) {
                for behaviour in BEHAVIOURS {
                    let more = match behaviour {
                        "wrong" => {
                            "output = { type = 'object', properties = { echo = { enum = [1] } }, \
                             additionalProperties = false }"
                        }
                        "page" | "cutstatus" => "errors = 'body'",
                        "problem" => "errors = '/inner'",
                        "headers" => "result = { headers = ['x-echo', 'etag'] }",
                        "rule" => "status.418 = { failure = 'tea only', kind = 'tea_only' }",
                        _ => "",
                    };
                    tool(&format!("{form}_{secret}_{behaviour}"), &format!("{form}/{secret}/{behaviour}"), &auth, more);
                }
                if secret == "odd" {
                    self.forms.push(form);
                }
            }
            for (form, auth) in places(origin, secret).into_iter().filter(|(form, _)| form.starts_with("oauth")) {
                for behaviour in ["denied", "broken", "page", "cut", "cutstatus", "private", "wrong"] {
                    let auth = auth.replace("/token'", &format!("/{behaviour}'"));
                    tool(&format!("{form}_{secret}_token_{behaviour}"), "unused", &auth, "");
                }
            }
        }
        for secret in ["lines", "bytes", "large", "absent"] {
            let auth = format!("{{ header = {{ name = 'x-key', secret = '{secret}' }} }}");
            tool(&format!("unusable_{secret}"), "unused", &auth, "");
        }
        text.push_str(
            "[toolbox.api.import.api]\nkind = 'openapi'\nfile = 'api.json'\ncheck-output = true\nerrors = '/detail'\n",
        );
        text.push_str("security = { key = 'odd', client = { secret = 'odd', client-id = 'client' } }\n");
        text
    }
}

fn shell() -> String {
    let mut text = String::new();
    let mut tool = |name: &str, argv: &[&str], secrets: &str, more: &str| {
        text.push_str(&format!("[toolbox.shell.tool.{name}]\nkind = 'command'\ncommand = {}\n", json!(argv)));
        text.push_str(&format!("secret-env = {secrets}\n{more}\n"));
    };
    for (name, more, script) in COMMANDS {
        tool(name, &["sh", "-c", script], "{ ODD = 'odd', PLAIN = 'plain' }", more);
    }
    tool("missing", &["./no-such-program"], "{ ODD = 'odd' }", "");
    tool("nul", &["sh", "-c", "exit 0"], "{ ODD = 'odd', NUL = 'nul' }", "");
    text
}

fn document(origin: &str) -> String {
    let response =
        json!({"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "string"}}}}});
    let operation =
        |id: &str, scheme: &str| json!({"get": {"operationId": id, "security": [{scheme: []}], "responses": response}});
    let flows = json!({"clientCredentials": {"tokenUrl": format!("{origin}/odd/token"), "scopes": {}}});
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Planted", "version": "1"},
        "servers": [{"url": origin}],
        "paths": {
            "/import/status": operation("keyStatus", "key"),
            "/import/ok": operation("keyOk", "key"),
            "/import/private": operation("clientPrivate", "client"),
            "/import/problem": operation("clientProblem", "client"),
        },
        "components": {"securitySchemes": {
            "key": {"type": "apiKey", "in": "query", "name": "key"},
            "client": {"type": "oauth2", "flows": flows},
        }},
    })
    .to_string()
}
