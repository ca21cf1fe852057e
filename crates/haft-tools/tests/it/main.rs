//! The public face of haft-tools, one file per subject.

#![allow(clippy::unwrap_used, reason = "what helps a test may stop it")]

#[cfg(unix)]
mod command;
mod fetch;
mod http;
mod openapi;
#[path = "../../../haft-schema/tests/it/seeded.rs"]
mod seeded;
mod source_004;
mod standard;

use std::collections::BTreeSet;

use haft_executor::{Tool, Toolkit};
use haft_registry::{Registry, Workspace};

/// A tool whose result is the given text.
fn tool_saying(name: &str, text: &'static str) -> Tool {
    Tool::new(name).handler(move |(), _cx| async move { text }).unwrap()
}

fn tool(name: &str) -> Tool {
    tool_saying(name, "")
}

/// A workspace of `namespace/tool` names; those with a star are exported.
fn workspace(org: Option<&str>, names: &[&str]) -> Workspace {
    let mut builder = org.map_or_else(Workspace::builder, Workspace::org_builder);
    let namespaces: BTreeSet<&str> = names.iter().map(|name| name.split_once('/').unwrap().0).collect();
    for namespace in namespaces {
        let mut toolbox = builder.toolbox(namespace);
        for (_, name) in names.iter().map(|name| name.split_once('/').unwrap()).filter(|(of, _)| *of == namespace) {
            toolbox = match name.strip_suffix('*') {
                Some(exported) => toolbox.exported(tool(exported)),
                None => toolbox.tool(tool(name)),
            };
        }
        builder = toolbox.done();
    }
    builder.build().unwrap()
}

fn registry(internal: &[&str], project: &[&str], orgs: &[(&str, &[&str])]) -> Registry {
    let internal: Toolkit = internal.iter().map(|name| tool(name)).collect();
    let mut builder = Registry::builder().internal(internal).workspace(workspace(None, project));
    for (org, names) in orgs {
        builder = builder.workspace(workspace(Some(org), names));
    }
    builder.build().unwrap()
}
