//! The report on a request that can't be sent as it is.

use std::sync::{Arc, Mutex};

use haft_core::Reasoning;
use haft_executor::{Tool, Toolkit};

use super::*;
use crate::recorder::Recorder;

/// The lines of the reports on the requests of a client.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<String>>>);

impl Reports {
    fn on(&self, model: OpenAi) -> OpenAi {
        let lines = Arc::clone(&self.0);
        model.on_report(move |report| {
            let mut lines = lines.lock().unwrap();
            let entries = report.dropped.len() + report.tools.len() + report.warnings.len();
            assert_eq!(report.to_string().lines().count(), entries);
            assert_eq!(report.severity().is_none(), entries == 0);
            lines.extend(report.to_string().lines().map(str::to_owned));
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

    // A request that is sent as it is has no report.
    let (turn, _) = asked(&model, &server, &Provider::Chat.stream()).await;
    assert!(turn.is_ok());
    assert_eq!(*reports.0.lock().unwrap(), [""; 0]);

    let tool = Tool::new("undescribed").handler(|n: u8, _cx| async move { n }).unwrap();
    let mut asked = request().tools(&<Toolkit>::from_iter([tool]));
    asked.history.push(Item::Reasoning(Reasoning::text("thoughts of another model")));
    asked.history.push(Item::assistant("yes"));
    asked.history.push(Item::user("go on"));
    let reply = Provider::Chat.stream();
    let (turn, (sent, _connection)) = join!(model.stream_turn(&asked).into_turn(), answer(&server, &reply));
    assert!(turn.is_ok() && !sent.contains("thoughts of another model"));
    let lines = reports.take();
    let dropped = |line: &String| line.starts_with("openai: left out: item 1: reasoning");
    let about_tool = |line: &String| line.starts_with("openai: warning: tool `undescribed`");
    assert!(lines.iter().any(dropped) && lines.iter().any(about_tool), "{lines:#?}");

    // The next turn of a conversation has the same tools.
    let (turn, (_, _connection)) = join!(model.stream_turn(&asked).into_turn(), answer(&server, &reply));
    let again = reports.take();
    assert!(turn.is_ok() && again.iter().any(dropped) && !again.iter().any(about_tool), "{again:#?}");
}

/// A request with two tools of the same name, the second of which is left out.
fn with_equal_names() -> TurnRequest {
    let tool = Tool::new("twice").handler(|n: u8, _cx| async move { n }).unwrap();
    let mut request = request().tools(&<Toolkit>::from_iter([tool]));
    request.tools.extend_from_within(..);
    request
}

#[tokio::test]
async fn a_tool_that_is_left_out_is_logged_unless_reports_are_received() {
    let server = Server::start().await;
    let model = OpenAi::new(Secret::new(KEY)).chat().base_url(server.url("")).model("gpt-4.1").http_client(client());
    let (request, reply) = (with_equal_names(), Provider::Chat.stream());
    let logged = async |model: &OpenAi| {
        let seen = Recorder::watch(async {
            let (turn, _answered) = join!(model.stream_turn(&request).into_turn(), answer(&server, &reply));
            assert!(turn.is_ok());
        });
        let events = seen.await.events;
        let warnings = events.iter().filter(|event| event.get("tool") == Some("twice"));
        warnings.map(|event| event.get("message").unwrap().to_owned()).collect::<Vec<_>>()
    };
    let reports = Reports::default();
    assert_eq!(logged(&reports.on(model)).await, [""; 0]);
    let lines = reports.take();
    assert!(lines[0].starts_with("openai: fault: tool `twice`: the tool `twice` has the same name"), "{lines:#?}");
    assert!(lines[1..].iter().any(|line| line.contains("warning: tool")), "it also has no description: {lines:#?}");

    let model = OpenAi::new(Secret::new(KEY)).chat().base_url(server.url("")).model("gpt-4.1").http_client(client());
    let warnings = logged(&model).await;
    assert!(warnings.len() == 1 && warnings[0].contains("rename one of the two tools"), "{warnings:#?}");
    assert_eq!(logged(&model).await, [""; 0], "the same tools are not logged again");
}
