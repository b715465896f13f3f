//! Actions that speak to a server: calls, several at once, joins, cancels, raw bytes.

use std::rc::Rc;

use serde_json::{Map, Value, json};

use super::act::{Acting, Halted, Outcome};
use super::world::{World, unhex};
use super::{forms, fuzz};
use crate::evidence::{Seen, ServerEnd, StopCause, Stopped, Way, object_of};
use crate::scenario::action::{Call, Cancel, Join, Notify, Pending, Progress, Send, Servers, Tools};
use crate::wire::client::Identity;
use crate::wire::server::{Server, WriteFault};

/// Fuzzed calls are many: so many are sent before their answers are read.
const FUZZED_AT_ONCE: usize = 50;

/// Sends every request of a call, and waits for their answers unless the call has a name to be joined by.
pub async fn call(acting: &Acting<'_, '_>, written: &Call) -> Result<(Call, Outcome), Stopped> {
    let world = acting.world;
    let times = written.times.unwrap_or(1);
    let mut exchanges = Vec::new();
    let mut resolved = None;
    for n in 0..times {
        let call = {
            let mut variables = world.variables.borrow_mut();
            variables.set("n", n.into());
            let call: Result<Call, _> = variables.resolve(written);
            variables.unset("n");
            let mut call = call.map_err(|error| acting.scenario_fault(error.to_string()))?;
            if let (Some(seed), Some(good)) = (call.fuzz, &call.args) {
                call.args = Some(fuzz::changed(good, seed, n));
            }
            call
        };
        let (server, identity) = match server_for(acting, &call, n) {
            Ok(found) => found,
            Err(stopped) => return Ok((call, Err(stopped))),
        };
        let (method, params) = message_of(&call);
        let (exchange, sent) = world.client.request(&server, &identity, &method, params, Some(acting.index)).await;
        world.forms.expect(exchange, call.form.clone().or(identity.forms));
        exchanges.push(exchange);
        let call = resolved.get_or_insert(call).clone();
        // A server that has ended is judged by what it owes, not by a write that failed.
        if let Err(WriteFault::Stuck) = sent {
            let halted = acting.stopped(StopCause::AgentSilent, "the server to read a request", "its pipe stays full");
            return Ok((call, Err(halted.having(Seen::Answers { exchanges, awaited: false }))));
        }
        if call.fuzz.is_some()
            && exchanges.len().is_multiple_of(FUZZED_AT_ONCE)
            && let Err(halted) = answered(acting, exchanges[exchanges.len() - FUZZED_AT_ONCE..].to_vec()).await
        {
            return Ok((call, Err(halted)));
        }
    }
    let call = resolved.unwrap_or_else(|| written.clone());
    if let Some(name) = &call.name {
        world.background.borrow_mut().insert(name.clone(), (exchanges.clone(), call.wanted.clone()));
        return Ok((call, Ok(Seen::Answers { exchanges, awaited: false })));
    }
    let outcome = answered(acting, exchanges).await;
    Ok((call, outcome))
}

pub async fn join(acting: &Acting<'_, '_>, join: &Join) -> Outcome {
    let (exchanges, _) = background(acting, &join.join)?;
    answered(acting, exchanges).await
}

pub fn pending(acting: &Acting<'_, '_>, pending: &Pending) -> Outcome {
    let (exchanges, _) = background(acting, &pending.pending)?;
    let answered =
        exchanges.iter().copied().filter(|exchange| acting.world.transcript.is_answered(*exchange)).collect();
    Ok(Seen::Unanswered { exchanges, answered })
}

pub async fn cancel(acting: &Acting<'_, '_>, cancel: &Cancel) -> Outcome {
    let (exchanges, _) = background(acting, &cancel.cancel)?;
    let world = acting.world;
    for index in &exchanges {
        let exchange = world.transcript.exchange(*index);
        let (server, _) = acting.server(Some(&exchange.server))?;
        let params = json!({"requestId": exchange.id, "reason": "the caller gave up"});
        let (frame, _) = world.client.notify(&server, "notifications/cancelled", Some(params)).await;
        world.transcript.cancelled(*index, frame);
    }
    Ok(Seen::Answers { exchanges, awaited: false })
}

pub async fn notify(acting: &Acting<'_, '_>, notify: &Notify) -> Outcome {
    let (server, _) = acting.server(notify.server.as_deref())?;
    let (_, sent) = acting.world.client.notify(&server, &notify.notify, notify.params.clone()).await;
    match sent {
        Err(WriteFault::Stuck) => {
            Err(acting.stopped(StopCause::AgentSilent, "the server to read", "its pipe stays full"))
        }
        _ => Ok(Seen::Nothing),
    }
}

pub async fn tools(acting: &Acting<'_, '_>, tools: &Tools) -> Outcome {
    let (server, identity) = acting.server(tools.server.as_deref())?;
    let client = &acting.world.client;
    let (exchange, _) = client.request(&server, &identity, "tools/list", None, Some(acting.index)).await;
    answered(acting, vec![exchange]).await
}

pub async fn send(acting: &Acting<'_, '_>, send: &Send) -> Outcome {
    let world = acting.world;
    let (server, identity) = acting.server(send.server.as_deref())?;
    let from = world.transcript.frames().len();
    let lines = lines_of(send).map_err(|detail| acting.stopped(StopCause::Scenario, "bytes to send", detail))?;
    let last = lines.len().saturating_sub(1);
    for (index, line) in lines.iter().enumerate() {
        let newline = send.newline || index < last;
        let (_, sent) = server.write(line, newline, send.slices, true, world.limit()).await;
        if let Err(WriteFault::Stuck) = sent {
            return Err(acting.stopped(StopCause::AgentSilent, "the server to read raw bytes", "its pipe stays full"));
        }
    }
    let mut seen = Seen::Frames { from, to: from, server: server.name.clone(), probe: None };
    let wanted = send.answers.len();
    let enough = world.transcript.until(world.limit(), || {
        let came = world.transcript.frames()[from..].iter().filter(|frame| came_from(frame, &server)).count();
        (came >= wanted || server.is_silent()).then_some(())
    });
    let in_time = enough.await.is_ok();
    if in_time && send.probe && (send.silence || wanted > 0) && !server.is_silent() {
        let (method, params) = if identity.modern { ("server/discover", None) } else { ("ping", None) };
        let (probe, _) = world.client.request(&server, &identity, method, params, Some(acting.index)).await;
        if let Err(halted) = answered(acting, vec![probe]).await {
            return Err(halted.having(upto(world, seen, Some(probe))));
        }
        seen = upto(world, seen, Some(probe));
    } else {
        seen = upto(world, seen, None);
    }
    if in_time {
        return Ok(seen);
    }
    Err(acting.stopped(StopCause::AgentSilent, "answers to raw bytes", "too few came in time").having(seen))
}

/// Waits until each call of a name was told of progress so many times under its own token.
pub async fn progress(acting: &Acting<'_, '_>, wanted: &Progress) -> Outcome {
    let (exchanges, _) = background(acting, &wanted.progress)?;
    let transcript = &acting.world.transcript;
    let tokens: Vec<(String, Value)> = {
        let asked = |exchange: &usize| {
            let exchange = transcript.exchange(*exchange);
            let request: Value = serde_json::from_str(&transcript.frames()[exchange.request].text).unwrap_or_default();
            Some((exchange.server, request.pointer("/params/_meta/progressToken")?.clone()))
        };
        exchanges.iter().filter_map(asked).collect()
    };
    if tokens.len() != exchanges.len() {
        return Err(acting.stopped(StopCause::Scenario, "progress", "a call of this name has no progressToken"));
    }
    let mut frames = Vec::new();
    let told = transcript.until(acting.world.limit(), || {
        let seen = transcript.frames();
        let all = seen.iter().enumerate().filter(|(_, frame)| frame.way == Way::Received);
        let told = all.filter_map(|(index, frame)| Some((index, frame.server.clone(), progress_token(&frame.text)?)));
        let told: Vec<(usize, String, Value)> = told.collect();
        let enough = |(server, token): &(String, Value)| {
            told.iter().filter(|(_, by, of)| by == server && of == token).count() >= wanted.count
        };
        frames = told.iter().map(|(index, _, _)| *index).collect();
        tokens.iter().all(enough).then_some(())
    });
    match told.await {
        Ok(()) => Ok(Seen::Progress { frames }),
        Err(_) => {
            let detail = format!("{} notifications came in time", frames.len());
            Err(acting.stopped(StopCause::AgentSilent, "progress of a call that waits", &detail))
        }
    }
}

/// The token that a line tells progress of.
fn progress_token(line: &str) -> Option<Value> {
    if !line.contains("notifications/progress") {
        return None;
    }
    let message: Value = serde_json::from_str(line).ok()?;
    let is_progress = message.get("method").and_then(Value::as_str) == Some("notifications/progress");
    message.pointer("/params/progressToken").filter(|_| is_progress).cloned()
}

/// Waits until each exchange is answered, or can't be any more.
async fn answered(acting: &Acting<'_, '_>, exchanges: Vec<usize>) -> Outcome {
    let world = acting.world;
    let in_time = loop {
        let mut open: Vec<usize> = exchanges.iter().map(|exchange| world.forms.latest(*exchange)).collect();
        let shown = world.transcript.until(world.limit(), || {
            let waiting = world.forms.waiting(world, &open);
            open.retain(|exchange| !world.transcript.is_answered(*exchange) && can_be_answered(world, *exchange));
            waiting.map(Some).or(open.is_empty().then_some(None))
        });
        match shown.await {
            Ok(Some(waiting)) => forms::reply(acting, waiting).await?,
            other => break other.is_ok(),
        }
    };
    let exchanges: Vec<usize> = exchanges.iter().map(|exchange| world.forms.latest(*exchange)).collect();
    let seen = Seen::Answers { exchanges: exchanges.clone(), awaited: true };
    let missing = exchanges.iter().find(|exchange| !world.transcript.is_answered(**exchange));
    let Some(missing) = missing.map(|exchange| world.transcript.exchange(*exchange)) else { return Ok(seen) };
    let server = world.server(Some(&missing.server)).map(|(server, _)| server);
    let killed = server.as_ref().is_some_and(|server| server.end.get() == Some(ServerEnd::ByScenario));
    if in_time && killed {
        // The scenario ended this server itself: what it still owed is counted after the end.
        return Ok(seen);
    }
    let what = missing.tool.clone().unwrap_or_else(|| missing.method.clone());
    let (cause, detail) = match server {
        Some(server) if server.is_silent() => (StopCause::AgentEnded, server.how_it_ended().await),
        _ => (StopCause::AgentSilent, "no answer in time".into()),
    };
    Err(acting.stopped(cause, &format!("the answer to {what}, id {}", missing.id), &detail).having(seen))
}

fn can_be_answered(world: &World<'_>, exchange: usize) -> bool {
    let exchange = world.transcript.exchange(exchange);
    exchange.cancelled.is_none() && world.server(Some(&exchange.server)).is_some_and(|(server, _)| !server.is_silent())
}

/// The result object of the first answer that has one: structured content, a text that is JSON, or a plain result.
pub fn first_object(world: &World<'_>, exchanges: &[usize]) -> Option<Value> {
    exchanges.iter().find_map(|exchange| {
        let result = world.transcript.answer(*exchange)?.get("result")?.clone();
        Some(object_of(&result))
    })
}

/// The exchanges of a call that has a name.
pub fn named(acting: &Acting<'_, '_>, name: &str) -> Result<Vec<usize>, Box<Halted>> {
    Ok(background(acting, name)?.0)
}

fn background(
    acting: &Acting<'_, '_>,
    name: &str,
) -> Result<(Vec<usize>, crate::scenario::action::Wanted), Box<Halted>> {
    let missing = || acting.stopped(StopCause::Scenario, "a call in the background", &format!("none is called {name}"));
    acting.world.background.borrow().get(name).cloned().ok_or_else(missing)
}

fn server_for(acting: &Acting<'_, '_>, call: &Call, n: u32) -> Result<(Rc<Server>, Identity), Box<Halted>> {
    let n = usize::try_from(n).unwrap_or_default();
    match &call.servers {
        None => acting.server(call.server.as_deref()),
        Some(Servers::Named(names)) => acting.server(names.get(n % names.len().max(1)).map(String::as_str)),
        Some(Servers::All(_)) => {
            let open: Vec<_> =
                acting.world.servers.borrow().iter().filter(|(server, _)| server.is_open()).cloned().collect();
            let none = || acting.stopped(StopCause::AgentEnded, "a server that lives", "none does");
            open.get(n % open.len().max(1)).cloned().ok_or_else(none)
        }
    }
}

fn message_of(call: &Call) -> (String, Option<Value>) {
    match &call.call {
        Some(tool) => {
            let mut params = Map::from_iter([("name".to_owned(), Value::from(tool.clone()))]);
            params.insert("arguments".into(), Value::Object(call.args.clone().unwrap_or_default()));
            if let Some(Value::Object(more)) = &call.params {
                params.extend(more.clone());
            }
            ("tools/call".into(), Some(Value::Object(params)))
        }
        None => (call.request.clone().unwrap_or_default(), call.params.clone()),
    }
}

fn lines_of(send: &Send) -> Result<Vec<Vec<u8>>, &'static str> {
    if let Some(hex) = &send.hex {
        return Ok(vec![unhex(hex).ok_or("the text is no hex")?]);
    }
    Ok(send
        .send
        .iter()
        .map(|line| match &send.pad {
            Some(pad) if line.contains("{pad}") => {
                let missing = pad.to.saturating_sub(line.len() - "{pad}".len());
                let filling = pad.with.repeat(missing / pad.with.len().max(1));
                line.replacen("{pad}", &filling, 1).into_bytes()
            }
            _ => line.clone().into_bytes(),
        })
        .collect())
}

fn upto(world: &World<'_>, seen: Seen, probed: Option<usize>) -> Seen {
    match seen {
        Seen::Frames { from, server, .. } => {
            Seen::Frames { from, to: world.transcript.frames().len(), server, probe: probed }
        }
        other => other,
    }
}

fn came_from(frame: &crate::evidence::Frame, server: &Server) -> bool {
    frame.way == crate::evidence::Way::Received && frame.server == server.name
}
