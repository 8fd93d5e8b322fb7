//! The workflow.

use std::time::Duration;

use perennial::prelude::*;

use super::talk::LONGEST_WORD;
use super::{
    Doing, Ended, Event, OUTPUT, Prompt, STANDING, Settings, Talk, Why, Word, answer, hear,
};

/// A session with an agent, from its first word to its last.
#[workflow]
pub async fn session(cx: &Cx, settings: Settings) -> Result<Ended, Error> {
    let mailbox = Mailbox::open(cx, hear);
    let mut talk = Talk::default();
    let why = loop {
        if talk.length() >= settings.most {
            break Why::Full;
        }
        let end = if talk.goes_on(settings.steps) {
            step(cx, &mailbox, &settings, &mut talk).await?
        } else {
            rest(cx, &mailbox, settings.idle, &mut talk).await?
        };
        if let Some(why) = end {
            break why;
        }
    };
    cx.emit(OUTPUT, Event::Ended { why });
    let standing = talk.standing(Doing::Ended { why });
    let (steps, tokens) = (standing.steps, standing.tokens);
    cx.set(STANDING, standing);
    Ok(Ended { why, steps, tokens })
}

// ANCHOR: step
/// A step: one call of the model. What the user says meanwhile is heard at once, and the next step knows of it.
#[durable]
async fn step(
    cx: &Cx,
    mailbox: &Mailbox<String>,
    settings: &Settings,
    talk: &mut Talk,
) -> Result<Option<Why>, Error> {
    let (step, lines) = talk.step();
    cx.emit(OUTPUT, Event::StepBegan { step });
    cx.set(STANDING, talk.standing(Doing::Works));
    let instructions = settings.instructions.clone();
    // Whoever leaves this function before the answer is there drops it with the set, and that is recorded.
    let mut work = JoinSet::named(cx, "step");
    work.submit(answer(
        cx,
        Prompt {
            instructions,
            lines,
        },
    ));
    loop {
        select! {
            mail = mailbox.next() => match heard(cx, mail, talk)? {
                Word::Say => cx.set(STANDING, talk.standing(Doing::Works)),
                Word::Stop => {
                    cx.emit(OUTPUT, Event::Stopped { step });
                    talk.stopped();
                    return Ok(None);
                }
                Word::Quit => return Ok(Some(Why::Quit)),
            },
            end = work.next() => {
                match end {
                    Some(Ok(answer)) => {
                        let text = talk.answered(&answer.text, answer.tokens);
                        cx.emit(OUTPUT, Event::AssistantSaid { step, text });
                        if talk.has_enough(settings.steps) {
                            cx.emit(OUTPUT, Event::Enough { steps: settings.steps });
                        }
                    }
                    Some(Err(error)) => {
                        talk.failed();
                        cx.emit(OUTPUT, Event::StepFailed { step, problem: error.to_string() });
                    }
                    None => {}
                }
                return Ok(None);
            }
        }
    }
}
// ANCHOR_END: step

/// Waits for the user, but not for ever.
#[durable]
async fn rest(
    cx: &Cx,
    mailbox: &Mailbox<String>,
    idle: Duration,
    talk: &mut Talk,
) -> Result<Option<Why>, Error> {
    let until = cx.now() + idle;
    cx.set(STANDING, talk.standing(Doing::Waits { until }));
    select! {
        mail = mailbox.next() => Ok(match heard(cx, mail, talk)? {
            Word::Quit => Some(Why::Quit),
            // There is nothing to be stopped.
            Word::Say | Word::Stop => None,
        }),
        slept = cx.sleep(idle) => {
            slept?;
            Ok(Some(Why::Idle))
        }
    }
}

/// What has come from the user is given out, and kept for the model.
#[durable]
fn heard(cx: &Cx, mail: Result<String, StubError>, talk: &mut Talk) -> Result<Word, StubError> {
    talk.counts();
    let text = match mail {
        Ok(text) if text.len() <= LONGEST_WORD => text,
        Ok(text) => {
            let length = text.len();
            let problem = format!("it has {length} bytes, and may have {LONGEST_WORD}");
            cx.emit(OUTPUT, Event::NotHeard { problem });
            return Ok(Word::Say);
        }
        // Whoever has fulfilled it is of another version, or in another language. The next offer is open.
        Err(StubError::Invalid { problem, .. }) => {
            cx.emit(OUTPUT, Event::NotHeard { problem });
            return Ok(Word::Say);
        }
        Err(other) => return Err(other),
    };
    let word = Word::of(&text);
    if word == Word::Say {
        cx.emit(OUTPUT, Event::UserSaid { text: text.clone() });
        talk.hears(text);
    }
    Ok(word)
}
