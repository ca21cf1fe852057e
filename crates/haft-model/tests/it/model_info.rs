//! The names of models: through wrappers, recordings, events and errors.

use std::path::PathBuf;
use std::sync::Arc;

use haft_core::{Item, TurnRequest};
use haft_executor::Toolkit;
use haft_model::{
    Cassette, LanguageModel, LoopEnd, LoopError, LoopEvent, ModelError, ModelInfo, ScriptedModel, TurnLoop, TurnStream,
};

fn request(model: &str) -> TurnRequest {
    TurnRequest::new(model, vec![Item::user("go")])
}

fn vendor() -> ModelInfo {
    ModelInfo::new("vendor").model("large")
}

/// A file that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("haft-model-info-{name}-{}.jsonl", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The models that the turns of a loop asked.
async fn asked(agent: &TurnLoop, request: TurnRequest) -> Vec<String> {
    let mut run = agent.start(request);
    let mut asked = Vec::new();
    while let Some(event) = run.next().await {
        if let LoopEvent::TurnStarted { model, .. } = event {
            asked.push(model.unwrap().to_string());
        }
    }
    asked
}

#[test]
fn wrappers_name_the_model_inside() {
    let model = ScriptedModel::default().named(vendor());
    let boxed: Box<dyn LanguageModel> = Box::new(Arc::new(model.clone()));
    assert_eq!(
        [<&ScriptedModel as LanguageModel>::info(&&model), boxed.info(), Arc::new(boxed).info()],
        [vendor(), vendor(), vendor()]
    );
    assert_eq!(ScriptedModel::default().info(), ModelInfo::new("scripted"));
}

#[test]
fn the_form_of_an_info_is_fixed() {
    for (info, written) in
        [(vendor(), r#"{"provider":"vendor","model":"large"}"#), (ModelInfo::new("vendor"), r#"{"provider":"vendor"}"#)]
    {
        assert_eq!(serde_json::to_string(&info).unwrap(), written);
        assert_eq!(serde_json::from_str::<ModelInfo>(written).unwrap(), info);
    }
    assert!(serde_json::from_str::<ModelInfo>("{}").is_err());
    assert_eq!(vendor().or_model("small"), vendor());
    assert_eq!(ModelInfo::new("vendor").or_model(""), ModelInfo::new("vendor"));
}

#[tokio::test]
async fn a_recording_keeps_the_names_of_its_model() {
    let file = Scratch::new("kept");
    let live = Cassette::record(&file.0, ScriptedModel::new(["hi"]).named(vendor())).unwrap();
    assert_eq!(live.info(), vendor());
    live.stream_turn(&request("m")).into_turn().await.unwrap();
    live.finish().unwrap();
    assert_eq!(Cassette::replay(&file.0).unwrap().info(), vendor());

    // A recording of a version that did not store them.
    let text = std::fs::read_to_string(&file.0).unwrap();
    let (_, exchanges) = text.split_once('\n').unwrap();
    std::fs::write(&file.0, format!("{{\"v\":1,\"recording\":\"model\"}}\n{exchanges}")).unwrap();
    let replay = Cassette::replay(&file.0).unwrap();
    assert_eq!(replay.info(), ModelInfo::new("recording"));
    assert_eq!(replay.stream_turn(&request("m")).into_turn().await.unwrap().text(), "hi");
}

#[tokio::test]
async fn each_turn_names_the_model_that_is_asked() {
    let fixed = ScriptedModel::new(["hi"]).named(vendor());
    assert_eq!(asked(&TurnLoop::new(fixed, Toolkit::new()), request("m")).await, ["vendor/large"]);
    let open = ScriptedModel::new(["hi"]).named(ModelInfo::new("vendor"));
    assert_eq!(asked(&TurnLoop::new(open, Toolkit::new()), request("m")).await, ["vendor/m"]);

    let (small, large) = (ScriptedModel::new(["well"]), ScriptedModel::new(["yes"]).named(vendor()));
    let agent = TurnLoop::new(small, Toolkit::new()).decide(move |mut after| {
        let large = large.clone();
        async move {
            if after.number() == 2 {
                return after.stop();
            }
            after.set_model(large);
            after.push(Item::user("Are you sure?"));
            after.next()
        }
    });
    assert_eq!(asked(&agent, request("m")).await, ["scripted/m", "vendor/large"]);
}

#[tokio::test]
async fn an_error_names_the_model() {
    let failing = ModelError::Authentication { message: "no such key".into() };
    let model = ScriptedModel::default().then(failing).named(vendor());
    let end = TurnLoop::new(model, Toolkit::new()).start(request("m")).finish().await.end;
    let LoopEnd::Failed(LoopError::Model { model, source }) = &end else { panic!("{end:?}") };
    assert_eq!((model, source.kind()), (&vendor(), "authentication"));
    assert!(end.error().unwrap().to_string().contains("vendor/large"));
}

/// A model whose name panics.
struct Nameless;

impl LanguageModel for Nameless {
    fn info(&self) -> ModelInfo {
        panic!("no name")
    }

    fn stream_turn(&self, _: &TurnRequest) -> TurnStream {
        TurnStream::of([])
    }
}

#[tokio::test]
async fn a_model_whose_name_panics_ends_the_loop_and_keeps_the_state() {
    let outcome = TurnLoop::new(Nameless, Toolkit::new()).start(request("m")).finish().await;
    assert!(matches!(&outcome.end, LoopEnd::Failed(LoopError::ModelPanicked { message }) if message == "no name"));
    assert_eq!(outcome.state.history(), [Item::user("go")]);
}
