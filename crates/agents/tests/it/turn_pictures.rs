//! The pictures that a turn's tools returned, for the channel of its answer.

use crate::fake_model::{call, refuse, say};
use crate::harness::{Harness, TestTool, chat, harnesses};
use gatehouse_agents::{
    Audience, MessageOrigin, NewAttachment, Origin, SendRequest, Target, TurnReport,
};
use gatehouse_domain::{Actor, DeliveryId};
use serde_json::json;

const KEY: &str = "channel:telegram:42";

fn message(number: usize) -> DeliveryId {
    DeliveryId::from_text(format!("inbound:telegram:{number}"))
}

/// Returns a text of a person on a channel.
async fn ask(harness: &Harness, number: usize) -> TurnReport {
    let request = SendRequest {
        session: Target::Person {
            key: KEY.to_owned(),
            label: "Ada".to_owned(),
        },
        origin: Origin::Channel {
            message: message(number),
            written_by: MessageOrigin::Owner,
        },
        ..SendRequest::new("Draw.", Actor::system())
    };
    harness.agents.send_sync(request).await.unwrap()
}

async fn names(harness: &Harness, key: &str, number: usize) -> Vec<String> {
    let message = message(number);
    let found = harness.agents.list_pictures_of(key, &message).await;
    found.unwrap().into_iter().map(|file| file.name).collect()
}

fn file(name: &str, pixels: Option<(u32, u32)>) -> NewAttachment {
    NewAttachment {
        name: name.to_owned(),
        media_type: "application/octet-stream",
        pixels,
        text: None,
        picture: None,
        data: b"data"[..].into(),
    }
}

#[tokio::test]
async fn the_pictures_are_those_of_the_turn_for_the_message() {
    for harness in harnesses().await {
        let tool = TestTool::new("plot", Audience::Public, |context, _| {
            Box::pin(async move {
                context.files.push(file("a.png", Some((2, 1))));
                context.files.push(file("a.bin", None));
                context.files.push(file("b.png", Some((2, 1))));
                Ok("done".to_owned())
            })
        });
        harness.agents.tools().register(tool);
        let plot = || call("plot", &json!({ "x": 1 }));
        harness.model.will([plot(), say("Here.")]);
        ask(&harness, 1).await;
        harness.model.will([say("Nothing.")]);
        ask(&harness, 2).await;
        harness.model.will([plot(), refuse("no")]);
        assert!(ask(&harness, 3).await.error.is_some());
        assert_eq!(names(&harness, KEY, 1).await, ["a.png", "b.png"]);
        let none: [&str; 0] = [];
        assert_eq!(names(&harness, KEY, 2).await, none, "no tool was called");
        assert_eq!(names(&harness, KEY, 3).await, none, "the turn failed");
        assert_eq!(names(&harness, KEY, 4).await, none);
        assert_eq!(names(&harness, "channel:telegram:43", 1).await, none);

        // Later turns of the owner do not change the pictures of the earlier turn.
        let owner = harness.agents.send_sync(chat(Some(KEY), "Thanks.")).await;
        owner.unwrap();
        assert_eq!(names(&harness, KEY, 1).await, ["a.png", "b.png"]);
    }
}
