//! Files with faults, and the exact messages.

use super::Folder;

/// Loads a text and returns all its faults.
async fn faults(text: &str) -> String {
    Folder::with(text).faults().await
}

/// The broken files by subject, each with the texts of its cases.
const SYNTAX: &[&str] = &[
    "[workspace",
    "a = \nb = ]\n[limits]\nconcurrency = 1 2\n",
    "[limits]\nconcurrency = 1\nconcurrency = 2\n",
    "[limits]\nconcurrency = 1\n[limits]\n",
    "toolbox = 'unclosed\n",
    "[toolbox.a]\ndescription = \"\\q\"\n",
    "key\n",
    "# ü\nü = 1\n",
    "[limits]\ntimeout = 1_\n",
    "[limits]\ntimeout = 01\n",
];

const VALUES: &[&str] = &[
    "[limits]\ntimeout = 2024-01-01\n",
    "[limits]\ntimeout = nan\n",
    "[limits]\ntimeout = inf\n",
    "[limits]\nconcurrency = 99999999999999999999999\n",
    "[limits]\nconcurrency = 0\n",
    "[limits]\nconcurrency = 1.5\n",
    "[limits]\ntimeout = 0\n",
    "[limits]\ntimeout = 1e300\n",
    "[limits]\ntimeout = '30s'\n",
    "limits = 3\n",
    "[[limits]]\n",
];

const KEYS: &[&str] = &[
    "[workspce]\n",
    "[tools.a]\n",
    "[limits]\nmax_output = 1\n",
    "[toolbox.a.search]\nkind = 'constant'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntxt = 'x'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\ndescripton = 'y'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nstyle = { cas = 'upper' }\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nstyle = { case = 'title' }\n",
    "[toolbox.a.import.b]\nkind = 'lines'\nfile = 'x'\ndescription = 'y'\n",
    "[workspace]\nstandard = { file = '.' }\n",
    "[workspace]\nstandard = 'yes'\n",
    "[secrets]\ngithub = 'ghp-123'\n",
    "[secrets]\ngithub = { env = 'A', file = 'b' }\n",
    "[secrets]\ngithub = { enviroment = 'A' }\n",
    "[files]\ndney = ['*.env']\n",
];

const ENTRIES: &[&str] = &[
    "[toolbox.a.tool.b]\n",
    "[toolbox.a.tool.b]\nkind = 'constnt'\n",
    "[toolbox.a.tool.b]\nkind = 'grpc'\n",
    "[toolbox.a.tool.b]\nkind = 3\n",
    "[toolbox.a.tool.b]\nkind = 'lines'\nfile = 'x'\n",
    "[toolbox.a.import.b]\nkind = 'constant'\ntext = 'x'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 7\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = ''\n",
    "[toolbox.a.import.b]\nkind = 'lines'\nfile = 'no-such-file'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nparameters = { type = 'objct' }\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nparameters = 'object'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\n[toolbox.a.tool.b.parameters]\nproperties.q = { type = 'string', minLength = -1 }\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\noutput = { '$ref' = '#/nowhere' }\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nexamples = [{}, { q = 1 }]\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\napproval = 'sometimes'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nconcurrency = 'alone'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nexport = 'yes'\nreadonly = 1\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nresources = { url = 'url', q = 'file' }\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nresources = { url = 'url' }\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nparameters = { properties.q.type = 'string' }\nresources = { q = 'path' }\n",
];

const NAMES: &[&str] = &[
    "[toolbox.'a b'.tool.c]\nkind = 'constant'\ntext = 'x'\n",
    "[toolbox.a.tool.'../b']\nkind = 'constant'\ntext = 'x'\n",
    "[toolbox.''.tool.b]\nkind = 'constant'\ntext = 'x'\n",
    "[toolbox.a]\n[toolbox.A]\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\n[toolbox.a.tool.B]\nkind = 'constant'\ntext = 'y'\n",
    "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nexport = true\n[toolbox.c.tool.b]\nkind = 'constant'\ntext = 'y'\nexport = true\n",
    "[workspace]\norg = 'a/b'\n",
];

const SECTIONS: &[&str] = &[
    "[http]\nallow-hosts = ['ok:80', 'http://a', '']\nallow-nets = ['10.0.0.0/8', '10.0.0.0/40', 'all']\n",
    "[http]\nonly-hosts = ['*.ok.example', 'ok.example:443', 'a.*', 'https://a', ':1']\n",
    "[workspace]\nstandard = { files = 'no-such-folder' }\n",
    "[workspace]\nstandard = { files = 'haft.toml' }\n",
    "[files]\ndeny = ['*.env', '', 'a/../b', '/', 'ok/**']\n",
    "[workspace]\norgs = '../acme'\n",
    "[workspace]\nstandard = { only = ['calculate', 'calclate', 'fetch', 'file_read', 'weather'] }\n",
    "[permissions]\nallow = ['../x', { tools = 'a/*', readnly = true }]\ndeny = 'all'\n",
    "[permissions]\nallow = ['../x']\nuse = ['none']\n",
    "[[approval]]\nask = 'a/*'\n[[approval]]\nask = ['b/*', '']\nwhen = 'args.amount >'\n",
    "[[approval]]\nask = 'a/*'\n[[approval]]\nask = ['b/*', '../']\nwhen = 'args.amount >'\n",
    "[[approval]]\nallow = 'a/*'\n",
    "[approval]\nask = 'a/*'\n",
    "[[approval]]\nask = 'a/*'\napprove = 'client'\n[[approval]]\nask = 'b/*'\napprove = 'aprovers'\n",
    "[callers]\nana = 'token'\n",
    "[callers.ana]\ntokn = 'a'\n[callers.bob]\nin-flight = 0\nper-minute = -1\n",
    "[callers.'a b']\n[callers.anonymous]\ntoken = 'x'\n",
    "[callers.ana]\ntoken = 'x'\n[callers.bob]\ntoken = 'x'\ngroups = ['', 'staff']\n",
    "[callers.ana]\npermissions = 'support'\n",
    "[permissions]\nallow = ['*']\nsets.support = {}\n[callers.ana]\npermissions = 'suport'\n",
    "[permissions.sets.support]\nallow = ['../x']\n[callers.ana]\npermissions = 'support'\n",
];

/// A file with every sort of fault reports all of them in file order.
const TOGETHER: &str = "
[limits]
concurency = 1
timeout = 'x'

[toolbox.a.tool.'b c']
kind = 'constant'
text = 'x'

[toolbox.a.tool.d]
kind = 'constant'
text = ''

[toolbox.a.tool.e]
kind = 'constnt'

[http]
allow-nets = ['x']
";

#[tokio::test]
async fn messages() {
    for (subject, texts) in [
        ("syntax", SYNTAX),
        ("values", VALUES),
        ("keys", KEYS),
        ("entries", ENTRIES),
        ("names", NAMES),
        ("sections", SECTIONS),
        ("together", &[TOGETHER]),
    ] {
        let mut shown = String::new();
        for text in texts {
            shown.push_str(&format!("{}\n---\n{}\n\n", text.trim_end(), faults(text).await));
        }
        insta::assert_snapshot!(subject, shown);
    }
}

#[tokio::test]
async fn lines_and_columns_count_characters() {
    let text = "# 𝄞 ünï\r\n[toolbox.a.tool.b]\r\nkind = 'constant'\r\ntext = 'x'\r\n'ü字' = { a = 1 }\r\n";
    assert_eq!(
        faults(text).await,
        "haft.toml:5:1: toolbox.a.tool.b.\"ü字\": the key \"ü字\" is not allowed; leave it out (allowed: kind, title, \
         description, version, parameters, output, examples, readonly, destructive, idempotent, open-world, export \
         and 8 more)",
    );
    let inline = "secrets = { 'ü𝄞' = { env = 3 } } # x";
    assert_eq!(faults(inline).await, "haft.toml:1:28: secrets.\"ü𝄞\".env: must be a string, not a number");
    let with_mark = "\u{feff}limits = 3";
    assert_eq!(faults(with_mark).await, "haft.toml:1:10: limits: must be an object, not a number");
}

#[tokio::test]
async fn files_that_are_none() {
    let folder = Folder::new();
    assert_eq!(folder.faults().await, "haft.toml: there is no such file");
    std::fs::create_dir(folder.file()).unwrap();
    assert_eq!(folder.faults().await, "haft.toml: this is a folder; name a file in it, such as `haft.toml`");

    let folder = Folder::with(b"# ok\nx = '\xff'");
    assert_eq!(folder.faults().await, "haft.toml:2:6: the file is not UTF-8 text; save it as UTF-8");
    let folder = Folder::with("#".repeat(4 * 1024 * 1024 + 1));
    assert_eq!(folder.faults().await, "haft.toml: the file can't be read: it is larger than 4096 KiB");
}
