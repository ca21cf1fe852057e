//! Workspaces and registries are built with all faults at once.

use haft_executor::Toolkit;
use haft_registry::{Registry, RegistryFault, Workspace, WorkspaceFault};

use crate::{tool, workspace};

#[test]
fn a_workspace_reports_all_faults() {
    let error = Workspace::org_builder("Acme Inc")
        .toolbox("math")
        .tool(tool("add"))
        .tool(tool("Add"))
        .exported(tool("sum"))
        .done()
        .toolbox("MATH")
        .exported(tool("sum"))
        .done()
        .toolbox("..")
        .tool(tool("fine"))
        .tool(tool("a/b"))
        .build()
        .unwrap_err();
    assert!(
        matches!(
            error.faults.as_slice(),
            [
                WorkspaceFault::Name(_),
                WorkspaceFault::DuplicateTool { .. },
                WorkspaceFault::Name(_),
                WorkspaceFault::Name(_),
                WorkspaceFault::DuplicateToolbox(_),
                WorkspaceFault::DuplicateExport { .. },
            ]
        ),
        "{:#?}",
        error.faults
    );
    assert_eq!(
        error.to_string(),
        "the workspace is invalid: the name `Acme Inc` is invalid: the segment `Acme Inc` contains ' '; use ASCII \
         letters, digits, `_`, `-` and `.`; the toolbox `math` has two tools named `Add`; rename one of them; the name \
         `..` is invalid: the segment `..` must begin with an ASCII letter or digit; the name `a/b` is invalid: it \
         contains a slash; name the namespace and the tool apart; there are two toolboxes named `MATH`; rename one of \
         them, or put all tools in one; `sum` is exported by `math` and `MATH`; export one of them"
    );
}

#[test]
fn a_registry_has_one_workspace_per_owner() {
    let error = Registry::builder()
        .internal(Toolkit::from_iter([tool("a b")]))
        .workspace(workspace(None, &["a/x"]))
        .workspace(workspace(None, &["b/x"]))
        .workspace(workspace(Some("acme"), &["a/x"]))
        .workspace(workspace(Some("ACME"), &["a/x"]))
        .build()
        .unwrap_err();
    assert!(
        matches!(
            error.faults.as_slice(),
            [RegistryFault::Toolbox(_), RegistryFault::DuplicateProject, RegistryFault::DuplicateOrg(_)]
        ),
        "{:#?}",
        error.faults
    );
}

#[test]
fn tools_of_the_standard_toolbox_have_names_of_their_own() {
    let internal = Toolkit::from_iter([tool("add"), tool("ADD")]);
    let error = Registry::builder().internal(internal).build().unwrap_err().to_string();
    assert!(error.contains("the standard toolbox has two tools named `ADD`; rename one of them"), "{error}");
}

#[test]
fn a_description_is_unset_by_none() {
    let described = Workspace::builder().toolbox("a").describe("Tools.").build().unwrap();
    assert_eq!(described.toolbox("a").unwrap().description(), Some("Tools."));
    let unset = Workspace::builder().toolbox("a").describe("Tools.").describe(None::<String>).build().unwrap();
    assert_eq!(unset.toolbox("a").unwrap().description(), None);
}

#[test]
fn a_toolkit_keeps_its_services_in_a_toolbox() {
    let kit = |name: &str, key: &str| {
        let kit: Toolkit = Toolkit::from_iter([tool(name)]);
        kit.with_services(haft_executor::Services::new().with(key.to_owned()))
    };
    let project = Workspace::builder()
        .toolbox("a")
        .served_toolkit(kit("x", "of a"))
        .done()
        .toolbox("b")
        .served_toolkit(kit("x", "of b"));
    let registry = Registry::builder().workspace(project.build().unwrap()).build().unwrap();
    let all = registry.all();
    assert_eq!(all.services_of("a/x").unwrap().get::<String>().unwrap(), "of a");
    assert_eq!(all.services_of("b/x").unwrap().get::<String>().unwrap(), "of b");
}
