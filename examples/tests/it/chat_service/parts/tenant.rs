//! People of two companies, and those who may decide.

use haft_parts::UseChat;
use serde_json::{Value, json};

use super::service::World;

#[test]
fn nobody_reaches_the_chat_of_another_tenant() {
    let (world, mut page) = (World::new(), UseChat::start());
    let service = world.start();
    service.show("bo", &mut page);
    let view = page.send("Deploy web 1.4.");
    assert_eq!(view.parts().last().unwrap()["state"], "approval-requested");

    assert_eq!(service.send("eve", "GET", "/api/chat/desk", &Value::Null).status, 401);
    assert_eq!(service.messages("cy"), Value::Null);
    let approval = view.parts().last().unwrap()["approval"]["id"].clone();
    let verdict = json!([{"request_id": approval, "decision": "approved"}]);
    let foreign = service.send("cy", "POST", "/api/chat/desk/verdicts", &verdict);
    assert_eq!(foreign.status, 404, "{}", foreign.body);
    assert_eq!(service.messages("ana").as_array().unwrap().len(), 2, "the chat belongs to the tenant");
}

#[test]
fn only_a_lead_decides() {
    let (world, mut page) = (World::new(), UseChat::start());
    let service = world.start();
    service.show("bo", &mut page);
    let view = page.send("Deploy web 1.4.");
    let approval = view.parts().last().unwrap()["approval"]["id"].as_str().unwrap().to_owned();
    let verdicts = json!([{"request_id": approval, "decision": "approved"}]);

    page.approve(&approval, true, "please");
    let again = service.show("bo", &mut page);
    assert_eq!(again.parts().last().unwrap()["state"], "approval-requested", "{again:?}");
    assert_eq!(service.send("bo", "POST", "/api/chat/desk/verdicts", &verdicts).status, 403);
    world.deployments.assert_quiet();

    assert_eq!(service.send("ana", "POST", "/api/chat/desk/verdicts", &verdicts).status, 202);
    let request = world.deployments.next();
    let headers = [("authorization", "Bearer bo-secret")];
    let mut back = haft_parts::begin(&service.url, "GET", "/api/chat/desk/stream", &headers, "");
    back.wait();
    request.answer("web 1.4 is live");
    assert_eq!(page.read(&back.finish().body).text(), "That is settled.");
    // A verdict counts once.
    assert_eq!(service.send("ana", "POST", "/api/chat/desk/verdicts", &verdicts).status, 422);
    world.deployments.assert_quiet();
}
