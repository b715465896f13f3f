//! The JSON API.

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::App;
use super::body::Body;
use crate::clinic::{Answer, Clinic, ClinicError, Written};
use crate::fault::Fault;
use crate::store::Seed;

/// An answer as JSON.
pub struct Reply(pub Answer);

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, [(CONTENT_TYPE, "application/json")], self.0.body.to_string()).into_response()
    }
}

pub async fn db(State(app): State<App>) -> Reply {
    at_the_desk(&app, |clinic| {
        let snapshot = clinic.snapshot()?;
        Ok(Answer { status: 200, body: json!(snapshot) })
    })
    .await
}

/// The body may be empty or anything at all: what can't be read asks for nothing.
pub async fn reset(State(app): State<App>, body: Body) -> Reply {
    let asked = match body.bytes {
        Ok(bytes) => serde_json::from_slice::<Value>(&bytes).ok(),
        Err(why) => return Reply(why.answer()),
    };
    let seed = match asked {
        Some(asked) if asked["seed_concurrent"] == true => Seed::Concurrent,
        _ => Seed::Empty,
    };
    at_the_desk(&app, move |clinic| {
        clinic.reset(seed)?;
        Ok(Answer { status: 200, body: json!({ "ok": true }) })
    })
    .await
}

pub async fn encounter(
    State(app): State<App>,
    Query(query): Query<Vec<(String, String)>>,
    Body { bytes, size }: Body,
) -> Reply {
    let fault = Fault::parse(query.iter().find(|(name, _)| name == "fault").map(|(_, mode)| mode.as_str()));
    let written = match bytes {
        Ok(bytes) => ask(&app, move |clinic| clinic.write(&bytes, fault)).await,
        Err(why) => ask(&app, move |clinic| clinic.refuse(&why, size, fault).map(Written::Now)).await,
    };
    match written {
        Ok(Written::Now(answer)) => Reply(answer),
        // A client that leaves, or a server that stops, drops this future and with it the answer.
        Ok(Written::Late(answer)) => {
            tokio::time::sleep(app.late_by).await;
            at_the_desk(&app, |_| answer.tell()).await
        }
        Err(answer) => Reply(answer),
    }
}

pub async fn delete(State(app): State<App>, Path(id): Path<String>) -> Reply {
    let Ok(id) = id.parse::<i64>() else {
        return Reply(Answer::refusal(400, "the id of an encounter is a whole number"));
    };
    at_the_desk(&app, move |clinic| {
        let found = clinic.delete(id)?;
        Ok(Answer { status: if found { 200 } else { 404 }, body: json!({ "ok": found, "id": id }) })
    })
    .await
}

pub async fn not_found() -> Reply {
    Reply(Answer::refusal(404, "not found"))
}

async fn at_the_desk(
    app: &App,
    work: impl FnOnce(&Arc<Clinic>) -> Result<Answer, ClinicError> + Send + 'static,
) -> Reply {
    Reply(ask(app, work).await.unwrap_or_else(|answer| answer))
}

/// Work that syncs to disk is done off the runtime's thread, and to its end even when the client leaves.
async fn ask<T: Send + 'static>(
    app: &App,
    work: impl FnOnce(&Arc<Clinic>) -> Result<T, ClinicError> + Send + 'static,
) -> Result<T, Answer> {
    let clinic = Arc::clone(&app.clinic);
    match tokio::task::spawn_blocking(move || work(&clinic)).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(fault)) => Err(Answer::refusal(500, fault)),
        Err(_) => Err(Answer::refusal(500, "the request ended in a fault of this server")),
    }
}
