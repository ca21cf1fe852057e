//! Files that are made to exhaust something.

use haft_workspace::Trust;

use super::Folder;

#[tokio::test]
async fn deep_nesting_is_rejected() {
    let deep = |open: &str, close: &str, levels: usize| format!("x = {}1{}", open.repeat(levels), close.repeat(levels));
    for text in [
        deep("[", "]", 100_000),
        deep("{ a = ", "}", 100_000),
        deep(&format!("{{ {}a = ", "a.".repeat(70)), "}", 78),
        format!("[{}a]", "a.".repeat(100_000)),
        format!("{}a = 1", "a.".repeat(77)),
    ] {
        let faults = Folder::with(&text).faults().await;
        assert!(faults.contains("recurs") || faults.contains("nested more than 64"), "{faults:.300}");
    }
}

#[tokio::test]
async fn one_missing_bracket_is_one_fault() {
    let entry = "[toolbox.a.tool.b]\nkind = 'constant'\ntext = 'x'\nexamples = [{ q = 1 }]\n";
    let text = format!("[permissions]\nallow = ['a/*'\n{}", entry.repeat(60));
    let faults = Folder::with(&text).faults().await;
    assert_eq!(faults.lines().count(), 1, "{faults}");
    let apart = "a = = 1\n\nok = 1\n\n".repeat(30);
    assert_eq!(Folder::with(&apart).faults().await.matches("invalid TOML").count(), 10);
}

#[tokio::test]
async fn faults_are_limited() {
    for text in ["=\n".repeat(100_000), "=\n".repeat(20_000), "x = ".repeat(100_000), "[limits]\n".repeat(5_000)] {
        let faults = Folder::with(&text).faults().await;
        assert!((1..=101).contains(&faults.lines().count()), "{}", faults.lines().count());
    }
    let dates = format!("x = [{}]", "2024-01-01,".repeat(30_000));
    let faults = Folder::with(&dates).faults().await;
    assert_eq!(faults.lines().count(), 101);
    assert!(faults.ends_with("haft.toml: there are 1 more faults than the 100 that are listed"), "{faults:.300}");
    let keys: Vec<String> = (0..20_000).map(|at| format!("key-{at} = 1")).collect();
    assert!(Folder::with(keys.join("\n")).faults().await.lines().count() <= 101);
}

#[cfg(unix)]
#[tokio::test]
async fn devices_are_not_read() {
    let folder =
        Folder::with("[workspace]\norgs = ['/dev/zero']\n[toolbox.a.import.b]\nkind = 'lines'\nfile = '/dev/zero'\n");
    let faults = folder.faults().await;
    assert_eq!(
        faults,
        "haft.toml:2:9: workspace.orgs[0]: /dev/zero: the file can't be read: it is not a regular file\n\
         haft.toml:5:8: toolbox.a.import.b.file: it must be below the folder of the workspace, by a relative \
         path without `..` or links out",
    );
}

#[tokio::test]
async fn the_number_of_imports_is_limited() {
    let import = |number| format!("[toolbox.t{number}.import.x]\nkind = 'lines'\nfile = 'empty'\n");
    let text = |count: usize| (0..count).map(import).collect::<String>();
    let folder = Folder::with(text(256));
    folder.write("empty", "");
    folder.load().await;
    folder.write("haft.toml", text(300));
    let faults = folder.faults().await;
    assert_eq!(faults.matches("there are more than 256 imports").count(), 1, "{faults}");
    assert!(faults.contains("toolbox.t256.import"), "{faults}");
    assert!(folder.load_with(Trust::Always).await.is_err());
}
