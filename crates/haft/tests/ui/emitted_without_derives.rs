use haft::prelude::*;
use haft::tool::Emits;

struct Step;

#[tool(emits = Step)]
async fn search(query: String, cx: &Cx) -> bool {
    cx.emit(query).await.is_ok()
}

#[tool]
async fn quiet() {}

fn read(event: &ToolEvent) {
    let _ = Quiet::read_event(event);
}

#[tool(emits = "Step")]
fn loud() {}

fn main() {}
