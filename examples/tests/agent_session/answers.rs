//! Each way in which a model does not answer.

use std::net::TcpListener;
use std::time::Duration;

use perennial::prelude::*;
use perennial_examples::agent_session::{
    Answer, Line, Model, ModelError, PATIENCE, Prompt, Reply, StandIn, Who, answer,
};

use crate::world::World;

fn prompt() -> Prompt {
    Prompt {
        instructions: "be kind".to_owned(),
        lines: vec![Line {
            who: Who::User,
            text: "hello".to_owned(),
        }],
    }
}

fn model(address: &str, patience: Duration) -> Model {
    Model::new(address, "m".to_owned(), None, patience).unwrap()
}

#[tokio::test]
async fn what_goes_wrong_is_told_apart() {
    let stand_in = StandIn::start(0, Duration::ZERO).await.unwrap();
    let patient = model(&stand_in.address(), PATIENCE);
    let hasty = model(&stand_in.address(), Duration::from_millis(20));
    let nobody = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let gone = model(&format!("http://{nobody}/v1"), PATIENCE);
    let no_tls = model(&stand_in.address().replace("http:", "https:"), PATIENCE);
    let elsewhere = model(&stand_in.address().replace("/v1", "/v2"), PATIENCE);
    let status = |status, text: &str| Some(Reply::Status(status, text.to_owned()));
    let raw = |text: &str| Some(Reply::Raw(text.to_owned()));
    let cases: [(&Model, Option<Reply>, bool); 15] = [
        (&gone, None, true),
        (&no_tls, None, true),
        (&patient, status(429, "slow down"), true),
        (&patient, status(500, "oops\n\u{1b}[31m"), true),
        (&patient, status(503, ""), true),
        (&patient, Some(Reply::Cut), true),
        (&hasty, Some(Reply::Nothing), true),
        (&patient, status(401, "no such key"), false),
        (&patient, status(403, "not for you"), false),
        (&patient, status(400, "no such model: m"), false),
        (&elsewhere, None, false),
        (&patient, raw("<html>hello</html>"), false),
        (&patient, raw(r#"{"choices": []}"#), false),
        (
            &patient,
            raw(r#"{"choices": [{"message": {"content": null}}]}"#),
            false,
        ),
        (&patient, raw(&"x".repeat(300_000)), false),
    ];
    let mut texts = String::new();
    for (model, reply, passes) in cases {
        let name = format!("{reply:.40?}");
        stand_in.script(reply);
        let error: ModelError = model.ask(&prompt(), "default/plan-1~1").await.unwrap_err();
        assert_eq!(error.passes(), passes, "{name}: {error}");
        let text = error.to_string().replace(&nobody.to_string(), "[address]");
        let text = text.replace(
            stand_in.address().trim_start_matches("http://"),
            "[stand-in]/v1",
        );
        // Systems number their errors differently.
        let text = text
            .replace(" (os error 111)", "")
            .replace(" (os error 61)", "");
        texts += &format!("{text}\n--\n");
    }
    insta::assert_snapshot!("problems", texts);
    let answer = patient.ask(&prompt(), "default/plan-1~1").await.unwrap();
    assert_eq!(answer.text, "You say: hello");
}

#[tokio::test]
async fn an_operation_that_is_asked_for_twice_is_one_call() {
    let stand_in = StandIn::start(0, Duration::ZERO).await.unwrap();
    let acx = ActivityCx::for_test().with_state(model(&stand_in.address(), PATIENCE));
    let said = Answer {
        text: "You say: hello".to_owned(),
        tokens: 3,
    };
    for _ in 0..2 {
        assert_eq!(answer::run(&acx, prompt()).await.unwrap(), said);
    }
    let made: Vec<_> = stand_in.calls().iter().map(|call| call.made).collect();
    assert_eq!(made, [true, false]);
}

#[test]
fn what_passes_is_tried_again_and_what_does_not_is_said() {
    let world = World::new();
    world.script([
        Reply::Status(429, "slow down".to_owned()),
        Reply::Cut,
        Reply::Say("here".to_owned()),
        Reply::Status(400, "no such model".to_owned()),
    ]);
    world.done("chat plan-1");
    let said = world.done("say plan-1 hello");
    assert!(
        said.ends_with("1 you: hello\n2 (step 1)\n3 agent: here\n"),
        "{said}"
    );
    let keys: Vec<_> = world.calls().into_iter().map(|call| call.key).collect();
    assert!(keys.iter().all(|key| key == &keys[0]), "{keys:?}");
    let said = world.done("say plan-1 more");
    assert!(
        said.contains("6 (step 2 failed: the model does not take the request (400): no such model")
    );
    assert_eq!(world.calls().len(), 4);
    let said = world.done("say plan-1 again");
    assert!(
        said.ends_with("9 agent: You say: more\n    \n    again\n"),
        "{said}"
    );
}
