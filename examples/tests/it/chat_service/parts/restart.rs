//! `kill -9` at the worst moments, and a page that goes away, as a page with `useChat` sees them.

use std::thread;

use haft_parts::{ChatView, UseChat};
use serde_json::{Value, json};

use super::service::World;

/// Returns the part of the last call in the last message.
fn call(view: &ChatView) -> &Value {
    let is_call = |part: &&Value| part["type"].as_str().is_some_and(|name| name.starts_with("tool-"));
    view.parts().iter().rfind(is_call).unwrap_or_else(|| panic!("no call: {view:?}"))
}

fn assert_clean(view: &ChatView) {
    assert_eq!((view.errors.as_slice(), view.fault.as_deref()), (&[][..], None), "{view:?}");
}

#[test]
fn it_is_killed_while_an_approval_waits_and_while_a_call_runs() {
    let (world, mut page) = (World::new(), UseChat::start());
    let service = world.start();
    service.show("ana", &mut page);
    let view = thread::scope(|scope| {
        let view = scope.spawn(|| page.send("What is deployed?"));
        let request = world.deployments.next();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/acme"));
        request.answer("web 1.3");
        view.join().unwrap()
    });
    assert_clean(&view);
    assert_eq!((view.text().as_str(), &call(&view)["output"]), ("You run web 1.3.", &json!("web 1.3")));
    let view = page.send("Deploy web 1.4.");
    assert_clean(&view);
    assert_eq!(call(&view)["state"], "approval-requested");

    // An approval waits.
    service.kill();
    let service = world.start();
    let view = service.show("ana", &mut page);
    assert_clean(&view);
    assert_eq!((view.messages.len(), &call(&view)["state"]), (4, &json!("approval-requested")));
    let approval = call(&view)["approval"]["id"].as_str().unwrap().to_owned();

    // The call runs.
    let (view, key) = thread::scope(|scope| {
        let view = scope.spawn(|| page.approve(&approval, true, "go"));
        let request = world.deployments.next();
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/acme"));
        assert_eq!(request.body, r#"{"service":"web","version":"1.4"}"#);
        service.kill();
        (view.join().unwrap(), request.key)
    });
    assert_eq!((view.status.as_str(), key.len()), ("error", 64), "the page lost its connection");

    let service = world.start();
    let view = service.show("ana", &mut page);
    assert_clean(&view);
    assert_eq!((&call(&view)["toolCallId"], &call(&view)["state"]), (&json!("call_2"), &json!("output-error")));
    let view = page.send("What happened?");
    assert_clean(&view);
    assert_eq!(view.text(), "Nobody knows whether web 1.4 was deployed.");
    world.deployments.assert_quiet();

    // Each call has one result, and the model knows that the second may have happened.
    let asked = world.asked();
    let results =
        asked.last().unwrap()["input"].as_array().unwrap().iter().filter(|it| it["type"] == "function_call_output");
    let results: Vec<_> = results.map(|it| (it["call_id"].as_str().unwrap(), it["output"].as_str().unwrap())).collect();
    assert_eq!((results.len(), results[0]), (2, ("call_1", "web 1.3")));
    assert!(results[1].0 == "call_2" && results[1].1.contains("unknown"), "{results:?}");
    let view = service.show("ana", &mut page);
    assert_clean(&view);
    assert_eq!(view.messages.len(), 6);
}

#[test]
fn a_page_that_goes_away_finds_the_answer_when_it_is_back() {
    let (world, mut page) = (World::new(), UseChat::start());
    let service = world.start();
    let message = json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "What is deployed?"}]});
    let post = json!({"id": "desk", "trigger": "submit-message", "messages": [message]}).to_string();
    let headers = [("authorization", "Bearer ana-secret")];
    let lost = haft_parts::begin(&service.url, "POST", "/api/chat", &headers, &post);
    let request = world.deployments.next();
    drop(lost);

    // Another message has to wait, and the page reads the answer from its start.
    let busy = service.send("ana", "POST", "/api/chat", &serde_json::from_str(&post).unwrap());
    assert_eq!(busy.status, 409, "{}", busy.body);
    let before = service.messages("ana");
    assert_eq!(before.as_array().map(Vec::len), Some(1), "the answer is in the stream: {before}");
    let mut back = haft_parts::begin(&service.url, "GET", "/api/chat/desk/stream", &headers, "");
    back.wait();
    request.answer("web 1.3");
    let view = page.read(&back.finish().body);
    assert_clean(&view);
    assert_eq!((view.text().as_str(), &call(&view)["output"]), ("You run web 1.3.", &json!("web 1.3")));
    assert_eq!(service.send("ana", "GET", "/api/chat/desk/stream", &Value::Null).status, 204);
}
