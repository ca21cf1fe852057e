//! The report on a request that can't be sent as it is.

use std::sync::{Arc, Mutex};

use haft_core::{Reasoning, Tool, Toolkit};

use super::*;

/// The lines of the reports on the requests of a client.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<String>>>);

impl Reports {
    fn on(&self, model: OpenAi) -> OpenAi {
        let lines = Arc::clone(&self.0);
        model.on_report(move |report| {
            let mut lines = lines.lock().unwrap();
            lines.push(format!("request to {}", report.provider));
            lines.extend(report.dropped.iter().map(|dropped| format!("dropped {dropped}")));
            lines.extend(report.tools.iter().map(|finding| format!("tool {finding}")));
        })
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[tokio::test]
async fn dropped_parts_and_findings_about_tools_are_reported() {
    let server = Server::start().await;
    let reports = Reports::default();
    let model = OpenAi::new(Secret::new(KEY)).chat().base_url(server.url("")).model("gpt-4.1").http_client(client());
    let model = reports.on(model);

    // What can be sent as it is has an empty report.
    let (turn, _) = asked(&model, &server, &Provider::Chat.stream()).await;
    assert!(turn.is_ok());
    assert_eq!(reports.take(), ["request to openai"]);

    let tool = Tool::new("undescribed").handler(|n: u8, _cx| async move { n }).unwrap();
    let mut asked = request().tools(&<Toolkit>::from_iter([tool]));
    asked.history.push(Item::Reasoning(Reasoning::text("thoughts of another model")));
    asked.history.push(Item::assistant("yes"));
    asked.history.push(Item::user("go on"));
    let reply = Provider::Chat.stream();
    let (turn, (sent, _connection)) = join!(model.stream_turn(&asked).into_turn(), answer(&server, &reply));
    assert!(turn.is_ok() && !sent.contains("thoughts of another model"));
    let lines = reports.take();
    assert!(lines.iter().any(|line| line.starts_with("dropped item 1: reasoning")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.starts_with("tool ") && line.contains("undescribed")), "{lines:#?}");
}
