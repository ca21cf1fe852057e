//! The page of the example in Chromium.

use haft_parts::Browser;

use super::service::World;

const APPROVE: &str = "[...document.querySelectorAll('button')].find((it) => it.textContent === 'Approve')";

/// Returns an expression for the text of the last element of this class, if it is the expected one.
fn shows(class: &str, text: &str) -> String {
    format!("[...document.querySelectorAll('.{class}')].at(-1)?.textContent === {text:?}")
}

#[test]
fn a_person_approves_after_a_restart_and_reads_the_answer() {
    let world = World::new();
    let mut browser = Browser::start(&world.folder.path().join("chromium"));
    let service = world.start();
    browser.open(&format!("{}/#ana-secret", service.url));
    browser.run("field = document.querySelector('input'), field.value = 'Deploy web 1.4.', field.form.requestSubmit()");
    browser.until(APPROVE);
    browser.until(&shows("call", r#"deploy: {"service":"web","version":"1.4"}ApproveDeny"#));

    service.kill();
    let service = world.start();
    browser.open(&format!("{}/#ana-secret", service.url));
    browser.until(&shows("user", "Deploy web 1.4."));
    browser.until(&format!("{APPROVE} && ({APPROVE}.click(), true)"));
    let request = world.deployments.next();
    browser.until(&shows("call", "deploy: deploying web 1.4"));
    request.answer("<b>web 1.4</b> is live");
    browser.until(&shows("answer", "That is settled."));
    assert_eq!(browser.run(&shows("call", "deploy: <b>web 1.4</b> is live")), true);

    // Loaded again, the page shows the same.
    let lines = "[...document.querySelectorAll('p')].map((it) => it.textContent).join('|')";
    let shown = browser.run(lines);
    browser.open(&format!("{}/#ana-secret", service.url));
    browser.until(&shows("answer", "That is settled."));
    assert_eq!(browser.run(lines), shown.as_str().unwrap().trim_start_matches('|'), "{shown}");
    browser.close();
}
