//! The client's person: forms that a server shows while a call waits, and their answers.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::act::{Acting, Halted, Outcome};
use super::world::World;
use crate::evidence::form::Shown;
use crate::evidence::{Exchange, Frame, Seen, StopCause, Way};
use crate::scenario::form::{Answer, Asked, FormReply};
use crate::wire::server::Server;

/// What is known of the forms of one world.
#[derive(Debug, Default)]
pub struct Forms(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    /// How the forms of an exchange are answered without being asked for by the scenario.
    replies: BTreeMap<usize, FormReply>,
    /// The frame that showed the form of an exchange.
    shown: BTreeMap<usize, usize>,
    /// Frames whose form was answered.
    answered: BTreeSet<usize>,
    /// The exchange that went on where another was answered with a form.
    later: BTreeMap<usize, usize>,
    /// Exchanges that were answered without a form.
    plain: BTreeSet<usize>,
    /// Forms of the legacy era, as they came.
    elicited: Vec<Elicited>,
    /// How many frames were looked at for them.
    looked: usize,
}

#[derive(Debug)]
struct Elicited {
    frame: usize,
    server: String,
    message: String,
}

/// A form that waits for its answer.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    exchange: usize,
    frame: usize,
}

impl Forms {
    pub fn expect(&self, exchange: usize, reply: Option<FormReply>) {
        if let Some(reply) = reply.filter(|reply| !reply.is_never()) {
            self.0.borrow_mut().replies.insert(exchange, reply);
        }
    }

    /// The exchange that has the call's own answer.
    pub fn latest(&self, exchange: usize) -> usize {
        let known = self.0.borrow();
        let mut latest = exchange;
        while let Some(later) = known.later.get(&latest) {
            latest = *later;
        }
        latest
    }

    /// A form that one of these exchanges waits on, and that the scenario said how to answer.
    pub fn waiting(&self, world: &World<'_>, exchanges: &[usize]) -> Option<Waiting> {
        exchanges.iter().copied().map(|exchange| self.latest(exchange)).find_map(|exchange| {
            let known = self.0.borrow();
            if !known.replies.contains_key(&exchange) || known.plain.contains(&exchange) {
                return None;
            }
            drop(known);
            self.form_of(world, exchange).filter(|waiting| !self.0.borrow().answered.contains(&waiting.frame))
        })
    }

    /// The form of an exchange, once it was shown.
    fn form_of(&self, world: &World<'_>, exchange: usize) -> Option<Waiting> {
        let asked = world.transcript.exchange(exchange);
        let before = self.0.borrow().shown.get(&exchange).copied();
        if let Some(frame) = before {
            // Of calls that are alike, this one may have been given another's form; then its own comes later.
            let answered = self.0.borrow().answered.contains(&frame);
            let own = if answered && asked.answer.is_none() { self.elicited(world, &asked) } else { None };
            let frame = own.unwrap_or(frame);
            self.0.borrow_mut().shown.insert(exchange, frame);
            return Some(Waiting { exchange, frame });
        }
        let frame = match asked.answer {
            Some(answer) => Some(answer).filter(|frame| shown_at(world, *frame).is_some_and(|form| form.id.is_none())),
            None => self.elicited(world, &asked),
        };
        let Some(frame) = frame else {
            if asked.answer.is_some() {
                self.0.borrow_mut().plain.insert(exchange);
            }
            return None;
        };
        self.0.borrow_mut().shown.insert(exchange, frame);
        Some(Waiting { exchange, frame })
    }

    /// A form of the legacy era says nothing of its call: the one that names the call's item, else the first that no other call has.
    fn elicited(&self, world: &World<'_>, asked: &Exchange) -> Option<usize> {
        let mut known = self.0.borrow_mut();
        known.look(&world.transcript.frames());
        let taken: BTreeSet<usize> = known.shown.values().chain(&known.answered).copied().collect();
        let free = || {
            let later = known.elicited.iter().filter(|form| form.frame > asked.request && form.server == asked.server);
            later.filter(|form| !taken.contains(&form.frame))
        };
        let item = asked.arguments.get("attention_id").and_then(Value::as_str);
        let named = free().find(|form| item.is_some_and(|item| form.message.contains(item)));
        named.or(free().next()).map(|form| form.frame)
    }
}

impl Known {
    /// Takes notice of the forms that came since the last look.
    fn look(&mut self, frames: &[Frame]) {
        for (index, frame) in frames.iter().enumerate().skip(self.looked) {
            if frame.way == Way::Received
                && frame.text.contains("elicitation/create")
                && let Some(form) = serde_json::from_str(&frame.text).ok().as_ref().and_then(Shown::of)
                && form.id.is_some()
            {
                let (server, message) = (frame.server.clone(), form.message().to_owned());
                self.elicited.push(Elicited { frame: index, server, message });
            }
        }
        self.looked = frames.len();
    }
}

/// Answers a form as the scenario said when it made the call.
pub async fn reply(acting: &Acting<'_, '_>, waiting: Waiting) -> Result<(), Box<Halted>> {
    let reply = acting.world.forms.0.borrow().replies.get(&waiting.exchange).cloned();
    match reply {
        Some(reply) => send(acting, waiting, &reply).await,
        None => Ok(()),
    }
}

/// Waits until every call of this name has shown its form.
pub async fn asked(acting: &Acting<'_, '_>, asked: &Asked) -> Outcome {
    let world = acting.world;
    let exchanges = super::answers::named(acting, &asked.asked)?;
    let all = world.transcript.until(world.limit(), || {
        let shown: Option<Vec<usize>> =
            exchanges.iter().map(|exchange| world.forms.form_of(world, *exchange).map(|form| form.frame)).collect();
        let never = exchanges.iter().any(|exchange| world.transcript.is_answered(*exchange));
        shown.map(Some).or(never.then_some(None))
    });
    match all.await {
        Ok(Some(frames)) => {
            let first = frames.first().and_then(|frame| shown_at(world, *frame)).map(|form| form.object());
            capture(acting, asked, &first.unwrap_or_default())?;
            Ok(Seen::Forms { frames })
        }
        Ok(None) => Err(acting.stopped(StopCause::AgentSilent, "a form", "the call was answered without one")),
        Err(_) => Err(acting.stopped(StopCause::AgentSilent, "a form", "none was shown in time")),
    }
}

pub async fn answer(acting: &Acting<'_, '_>, answer: &Answer) -> Outcome {
    let exchanges = super::answers::named(acting, &answer.answer)?;
    for exchange in exchanges {
        let waiting = acting.world.forms.form_of(acting.world, exchange);
        let none = || acting.stopped(StopCause::Scenario, "a form to answer", "none was shown: await it with `asked`");
        send(acting, waiting.ok_or_else(none)?, &answer.form).await?;
    }
    Ok(Seen::Nothing)
}

/// The frame's form.
pub fn shown_at(world: &World<'_>, frame: usize) -> Option<Shown> {
    let text = world.transcript.frames().get(frame)?.text.clone();
    Shown::of(&serde_json::from_str(&text).ok()?)
}

async fn send(acting: &Acting<'_, '_>, waiting: Waiting, reply: &FormReply) -> Result<(), Box<Halted>> {
    let world = acting.world;
    world.forms.0.borrow_mut().answered.insert(waiting.frame);
    let asked = world.transcript.exchange(waiting.exchange);
    let Some(form) = shown_at(world, waiting.frame) else { return Ok(()) };
    let (server, identity) = acting.server(Some(&asked.server))?;
    let Some(id) = &form.id else {
        let params = second_try(world, asked.request, &form, reply);
        let (again, _) = world.client.request(&server, &identity, "tools/call", Some(params), Some(acting.index)).await;
        world.forms.0.borrow_mut().later.insert(waiting.exchange, again);
        return Ok(());
    };
    legacy(world, &server, id, reply).await;
    Ok(())
}

async fn legacy(world: &World<'_>, server: &Rc<Server>, id: &Value, reply: &FormReply) {
    let message = match reply.result() {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "no form here"}}),
    };
    // A server that reads no more is judged by what it owes.
    let _unread = server.write(message.to_string().as_bytes(), true, None, false, world.limit()).await;
}

/// The same call with a new id, the answers and the state.
fn second_try(world: &World<'_>, request: usize, form: &Shown, reply: &FormReply) -> Value {
    let sent = world.transcript.frames().get(request).map(|frame| frame.text.clone()).unwrap_or_default();
    let sent: Value = serde_json::from_str(&sent).unwrap_or_default();
    let mut params = sent.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    let key = form.key.clone().unwrap_or_else(|| "unnamed".into());
    let answers = Map::from_iter([(key, reply.result().unwrap_or_else(|| json!({"error": "no form here"})))]);
    params.insert("inputResponses".into(), Value::Object(answers));
    params.remove("requestState");
    if let Some(state) = reply.state().of(form.state.as_deref().unwrap_or_default()) {
        params.insert("requestState".into(), state.into());
    }
    Value::Object(params)
}

fn capture(acting: &Acting<'_, '_>, asked: &Asked, form: &Value) -> Result<(), Box<Halted>> {
    for (name, pointer) in &asked.capture {
        let missing = || acting.stopped(StopCause::AgentSilent, &format!("a value at {pointer} of the form"), "none");
        let value = form.pointer(pointer).ok_or_else(missing)?.clone();
        acting.world.variables.borrow_mut().set(name, value);
    }
    Ok(())
}
